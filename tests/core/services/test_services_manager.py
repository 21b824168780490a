"""Services: started, adopted, replaced, ended, and those exactly."""

import json
import os
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.errors import ServiceError
from components.core.services.manager import ServiceManager, ServiceSpec
from components.core.services.ports import free_ports
from components.core.services.process import ProcessId
from components.core.services.record import read_record, record_path, write_record

Sample = Callable[..., list[str]]
Gone = Callable[[ProcessId], bool]


def get(url: str) -> str:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url + "/health", timeout=10) as response:
        return str(response.read().decode())


def test_start_find_end(manager: ServiceManager, sample: Sample, gone: Gone) -> None:
    service = manager.start(ServiceSpec("judge", sample(), env={"COLOUR": "red"}))
    pid, colour, owner = get(service.url).split()
    assert (colour, owner) == ("red", str(manager.owner))
    assert manager.find("judge") == service
    assert manager.running() == [service]
    assert manager.end("judge")
    assert gone(service.process)
    assert not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    assert manager.find("judge") is None
    assert not manager.end("judge")


def test_same_spec_is_adopted_by_any_process_of_the_same_command(
    manager: ServiceManager, sample: Sample, tmp_path: Path
) -> None:
    first = manager.start(ServiceSpec("judge", sample()))
    other = ServiceManager(tmp_path / "state", ProcessId.current())
    assert other.start(ServiceSpec("judge", sample())) == first


@pytest.mark.parametrize("change", ["argv", "env", "unhealthy", "owner"])
def test_what_is_not_wanted_any_more_is_replaced(
    manager: ServiceManager, sample: Sample, gone: Gone, tmp_path: Path, change: str
) -> None:
    first = manager.start(ServiceSpec("judge", sample()))
    spec = ServiceSpec(
        "judge",
        sample("more") if change == "argv" else sample(),
        env={"COLOUR": "blue"} if change == "env" else {},
        health=(lambda url: url != first.url) if change == "unhealthy" else "/health",
    )
    if change == "owner":
        write_record(tmp_path / "state", read_record_as(first, supervisor=ProcessId(1, 1.0)))
    second = manager.start(spec)
    assert second.process != first.process
    assert gone(first.process)
    assert len(manager.running()) == 1


def read_record_as(service: object, **changes: object) -> object:
    import dataclasses

    return dataclasses.replace(service, **changes)  # type: ignore[type-var]


def test_taken_port_is_refused_with_its_holder(manager: ServiceManager, sample: Sample) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServiceError, match=f"port {port} is taken by pid {os.getpid()}"):
            manager.start(ServiceSpec("judge", sample(), port=port))
    assert manager.running() == []


def test_asked_port_is_used(manager: ServiceManager, sample: Sample) -> None:
    (port,) = free_ports(1)
    assert manager.start(ServiceSpec("judge", sample(), port=port)).url == f"http://127.0.0.1:{port}"


def test_early_death_quotes_the_log(manager: ServiceManager, sample: Sample) -> None:
    with pytest.raises(ServiceError, match="ended with status 3 before it was ready") as caught:
        manager.start(ServiceSpec("judge", sample("die")))
    assert "cannot load the model: no such file" in caught.value.what
    assert caught.value.where.endswith("logs/judge.log")
    assert manager.running() == []


def test_only_the_lines_of_this_start_are_quoted(manager: ServiceManager, sample: Sample, tmp_path: Path) -> None:
    log = tmp_path / "state" / "logs" / "judge.log"
    log.parent.mkdir(parents=True)
    log.write_text("an old complaint\n")
    with pytest.raises(ServiceError) as caught:
        manager.start(ServiceSpec("judge", sample("die")))
    assert "an old complaint" not in caught.value.what


@pytest.mark.parametrize("behaviour", ["late", "unhealthy"])
def test_not_ready_in_time_is_ended(manager: ServiceManager, sample: Sample, tmp_path: Path, behaviour: str) -> None:
    with pytest.raises(ServiceError, match="was not ready after 1 s"):
        manager.start(ServiceSpec("judge", sample(behaviour), timeout=1, grace=0.2))
    assert read_record(tmp_path / "state", "judge") is None


def test_program_that_is_not_there(manager: ServiceManager) -> None:
    with pytest.raises(ServiceError, match="status 127") as caught:
        manager.start(ServiceSpec("judge", ["/no/such/program"]))
    assert "cannot start /no/such/program: No such file or directory" in caught.value.what


def test_stubborn_service_is_killed_with_its_brood(
    manager: ServiceManager, sample: Sample, gone: Gone, tmp_path: Path
) -> None:
    service = manager.start(ServiceSpec("judge", sample("stubborn", "brood"), grace=0.3))
    log = (tmp_path / "state" / "logs" / "judge.log").read_text()
    child = ProcessId.of(int(log.split("child ")[1].split()[0]))
    program = ProcessId.of(int(get(service.url).split()[0]))
    manager.end("judge")
    assert gone(child)
    assert gone(program)


def test_record_of_a_reused_pid_ends_nobody(manager: ServiceManager, sample: Sample, tmp_path: Path) -> None:
    service = manager.start(ServiceSpec("judge", sample()))
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    identity = ProcessId.of(bystander.pid)
    stale = read_record_as(service, name="other", process=ProcessId(bystander.pid, identity.start - 500))
    write_record(tmp_path / "state", stale)  # type: ignore[arg-type]
    assert manager.find("other") is None
    assert not manager.end("other")
    assert identity.alive()
    assert not record_path(tmp_path / "state", "other").exists()
    bystander.kill()
    bystander.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 1}', "null"])
def test_damaged_record_counts_as_none(manager: ServiceManager, sample: Sample, tmp_path: Path, text: str) -> None:
    path = record_path(tmp_path / "state", "judge")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert manager.find("judge") is None
    assert manager.start(ServiceSpec("judge", sample())).name == "judge"


def test_further_ports_are_filled_in(manager: ServiceManager, tmp_path: Path, sample: Sample) -> None:
    spec = ServiceSpec("judge", [*sample(), "{grpc}", "{unknown}"], ports=["grpc"])
    service = manager.start(spec)
    assert set(service.ports) == {"grpc"}
    command = json.dumps(Path(f"/proc/{get(service.url).split()[0]}/cmdline").read_text().split("\0"))
    assert f'"{service.ports["grpc"]}"' in command
    assert '"{unknown}"' in command


def test_left_behind_files_are_removed(manager: ServiceManager, sample: Sample, tmp_path: Path) -> None:
    spec = ServiceSpec("judge", sample(), unlink=[str(tmp_path / "left-{port}.sock")])
    service = manager.start(spec)
    left = tmp_path / f"left-{service.port}.sock"
    left.touch()
    manager.end("judge")
    assert not left.exists()


def test_ends_all(manager: ServiceManager, sample: Sample, gone: Gone) -> None:
    services = [manager.start(ServiceSpec(name, sample())) for name in ("one", "two")]
    assert manager.end_all() == ["one", "two"]
    assert all(gone(service.process) for service in services)


def test_lost_port_is_tried_again_with_another(
    manager: ServiceManager, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answers = [[taken.getsockname()[1]], free_ports(1)]
        monkeypatch.setattr("components.core.services.manager.free_ports", lambda count: answers.pop(0))
        service = manager.start(ServiceSpec("judge", sample()))
    assert answers == []
    assert get(service.url)


def test_log_and_records_are_no_secret_store(manager: ServiceManager, sample: Sample, tmp_path: Path) -> None:
    service = manager.start(ServiceSpec("judge", sample(), env={"API_KEY": "very-secret-value"}))
    for path in (tmp_path / "state").rglob("*"):
        if path.is_file():
            assert "very-secret-value" not in path.read_text()
    assert stat.S_ISREG(Path(service.log).stat().st_mode)
