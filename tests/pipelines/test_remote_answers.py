"""A KFP that is not what it seems: pages to sign in, answers of another shape, lists without an end, races."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kfp_double import KfpDouble, refusal
from remote_world import kfp

from components.core.errors import ConfigError
from components.rayjob.cancelled import cancelled
from pipelines.remote.cancel import cancel
from pipelines.remote.connect import Remote, connect
from pipelines.remote.errors import KfpError
from pipelines.remote.fetch import fetch_report
from pipelines.remote.logs import run_logs
from pipelines.remote.runs import runs_table
from pipelines.remote.submit import prepare, submit

__all__ = ["kfp"]
RUN = "0a0a0a0a-0000-0000-0000-000000000001"
ANSWERS = {
    "sign-in page": b"<html>sign in</html>",
    "list": b"[1]",
    "null": b"null",
    "nothing": b"",
    "binary": bytes(range(256)),
    "deep": b"[" * 200_000,
    "other types": json.dumps({"runs": 7, "experiments": 7, "run_id": 7, "state": 5}).encode(),
    "a run without an id": json.dumps({"runs": [{"state": "RUNNING"}]}).encode(),
    "a date": json.dumps(
        {"run_id": RUN, "created_at": "soon", "runs": [{"run_id": RUN, "created_at": "soon"}]}
    ).encode(),
    "no end": json.dumps({"runs": [], "experiments": [], "next_page_token": "on"}).encode(),
}
COMMANDS: dict[str, Callable[[Remote], object]] = {
    "runs": runs_table,
    "logs": lambda remote: run_logs(remote, RUN),
    "logs of a beginning": lambda remote: run_logs(remote, "0a0a"),
    "report": lambda remote: fetch_report(remote, RUN),
    "cancel": lambda remote: cancel(remote, RUN),
}


class Liar:
    """Answers every request but that for its health in one way."""

    def __init__(self) -> None:
        self.answer = b""
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                body = b'{"multi_user": false}' if "healthz" in self.path else outer.answer
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815  http.server's name

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def liar(kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch) -> Iterator[Liar]:
    found = Liar()
    monkeypatch.setenv("KFP_HOST", found.url)
    yield found
    found.close()


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_kfp_does_not_say_is_no_run_and_no_empty_list(
    liar: Liar, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    remote = connect()
    liar.answer = ANSWERS[answer]
    said, refused = {}, []
    for name, command in COMMANDS.items():
        try:
            said[name] = str(command(remote))
        except KfpError as error:
            refused.append(error.what)
    assert said == ({"runs": "no runs yet"} if answer == "no end" else {})
    assert len(refused) == len(COMMANDS) - len(said)
    assert not [what for what in refused if "TLS" in what]
    monkeypatch.setenv("GAVEL_KFP_RUN", RUN)
    assert cancelled()[0] is None


SECRETS = ["first\nHUSH", "HUSH\x00", "HÜSH–HUSH"]


@pytest.mark.parametrize("variable", ["KFP_TOKEN", "KFP_COOKIES", "KFP_TOKEN_FILE", "KF_PIPELINES_SA_TOKEN_PATH"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_credential_that_no_header_takes_is_not_shown(
    kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, secret: str
) -> None:
    value = secret
    if variable.endswith(("FILE", "PATH")):
        (tmp_path / "token").write_text(secret, encoding="latin-1" if secret.isascii() else "utf-8")
        value = str(tmp_path / "token")
    elif "\x00" in secret:
        pytest.skip("no environment holds it")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match="no HTTP header takes") as caught:
        connect()
    assert caught.value.where == variable
    assert "HUSH" not in str(caught.value)


def test_a_line_end_after_a_token_is_none_of_it(kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    kfp.token = "open"
    monkeypatch.setenv("KFP_TOKEN", "open\n")
    assert runs_table(connect()) == "no runs yet"


@pytest.mark.parametrize("variable", ["KFP_HOST", "KFP_UI"])
def test_a_url_with_credentials_is_refused_and_not_shown(
    kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, kfp.url.replace("http://", "http://jo:" + "HUSH@"))
    with pytest.raises(ConfigError, match="must not hold credentials") as caught:
        connect()
    assert "HUSH" not in str(caught.value)


@pytest.mark.parametrize(("variable", "value"), [("KFP_CA", "/no/file"), ("KF_PIPELINES_SA_TOKEN_PATH", "/no/file")])
def test_a_file_that_is_not_there_is_told(
    kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as caught:
        connect()
    assert caught.value.where == variable


@pytest.mark.parametrize("status", [409, 500])
def test_two_that_submit_at_once_both_get_their_run(
    kfp: KfpDouble, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    prepared = prepare("verinstruct_rl", [])
    kept = kfp._kept

    def first(shelf: dict[str, Any], key: str, body: dict[str, Any]) -> Any:
        """The other one's comes first, and ours is refused."""
        made = kept(shelf, key, body)
        return refusal(status, "already exists") if key in ("pipeline_id", "pipeline_version_id") else made

    monkeypatch.setattr(kfp, "_kept", first)
    done = submit(connect(), prepared)
    assert len(kfp.pipelines) == len(kfp.versions) == 1
    [version] = kfp.versions
    assert kfp.runs[done.run_id]["pipeline_version_reference"]["pipeline_version_id"] == version
