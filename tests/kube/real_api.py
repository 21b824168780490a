"""A real kube-apiserver on a real etcd, as two child processes that end with this one."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import urllib3

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 300


class RealApi:
    """Where the server is, and kubeconfigs for its accounts: "admin" may everything, "nobody" nothing."""

    def __init__(self, url: str, folder: Path, tokens: dict[str, str]) -> None:
        self.url, self.folder, self.tokens = url, folder, tokens
        self.ca = folder / "certs" / "apiserver.crt"

    def kubeconfig(self, target: Path, namespace: str, account: str = "admin", token: str | None = None) -> Path:
        """Write a kubeconfig for ``account``, or with another token."""
        secret = self.tokens[account] if token is None else token
        return write_kubeconfig(target, self.url, namespace, secret, self.ca)


def write_kubeconfig(target: Path, url: str, namespace: str, token: str, ca: Path | None = None) -> Path:
    """A kubeconfig (JSON is YAML) with one context."""
    cluster = {"server": url, **({"certificate-authority": str(ca)} if ca else {})}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}],
        "current-context": "test",
    }
    target.write_text(json.dumps(config), encoding="utf-8")
    return target


def binaries() -> Path | None:
    """The folder with kube-apiserver: $GAVEL_KUBE_BIN, else .gavel/kube/bin of this checkout; None if there is none,
    or no etcd."""
    state = Path(os.environ.get("GAVEL_STATE") or ROOT / ".gavel")
    folder = Path(os.environ.get("GAVEL_KUBE_BIN") or (state if state.is_absolute() else ROOT / state) / "kube/bin")
    return folder if os.access(folder / "kube-apiserver", os.X_OK) and shutil.which("etcd") else None


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [int(item.getsockname()[1]) for item in sockets]


@contextlib.contextmanager
def _process(arguments: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    # setpriv: the kernel ends the server with us, however we end.
    with log.open("wb") as out:
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *arguments], stdout=out, stderr=out)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def real_api(programs: Path, folder: Path) -> Iterator[RealApi]:
    """Run etcd and the API server in ``folder`` (about five seconds, 330 MB) until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    secure, client, peer = _free_ports(3)
    tokens = {name: secrets.token_hex(16) for name in ("admin", "nobody")}
    token_file = folder / "tokens.csv"
    token_file.touch(mode=0o600)
    token_file.write_text(f'{tokens["admin"]},admin,1,"system:masters"\n{tokens["nobody"]},nobody,2,"nobodies"\n')
    for command in (["genrsa", "-out", "sa.key", "2048"], ["rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub"]):
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
    own, other = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    etcd = [
        "etcd",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={own}",
        f"--advertise-client-urls={own}",
        f"--listen-peer-urls={other}",
        f"--initial-advertise-peer-urls={other}",
        f"--initial-cluster=default={other}",
        "--unsafe-no-fsync",
    ]
    server = [
        str(programs / "kube-apiserver"),
        f"--etcd-servers={own}",
        f"--secure-port={secure}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--cert-dir={folder / 'certs'}",
        f"--token-auth-file={token_file}",
        f"--service-account-key-file={folder / 'sa.pub'}",
        f"--service-account-signing-key-file={folder / 'sa.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        # There is no controller that would make the service accounts' tokens.
        "--disable-admission-plugins=ServiceAccount",
    ]
    with _process(etcd, folder / "etcd.log"), _process(server, folder / "apiserver.log") as process:
        url = f"https://127.0.0.1:{secure}"
        api = RealApi(url, folder, tokens)
        _await_ready(api, process)
        yield api


def _await_ready(api: RealApi, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        with (
            contextlib.suppress(urllib3.exceptions.HTTPError, OSError),
            urllib3.PoolManager(ca_certs=str(api.ca)) as pool,
        ):
            answer = pool.request(
                "GET", f"{api.url}/readyz", headers={"Authorization": f"Bearer {api.tokens['admin']}"}, retries=False
            )
            if answer.status == 200:
                return
        time.sleep(0.2)
    tail = (api.folder / "apiserver.log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"the API server of {api.folder} did not become ready:\n{tail}")
