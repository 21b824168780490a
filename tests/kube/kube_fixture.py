"""The fixture ``api``: a namespace of an API server, pretended or (tests with the marker ``cluster``) real."""

import contextlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_double import ApiDouble, event_object, namespace_object
from kube_faults import Faults
from real_api import RealApi, binaries, real_api, write_kubeconfig

from components.kube import kinds
from components.kube.cluster import Cluster
from components.kube.connect import connection
from components.kube.kinds import Kind
from components.kube.transport import Transport

Object = dict[str, Any]
_RULES = Kind("rbac.authorization.k8s.io", "v1", "roles", "Role")
_BINDINGS = Kind("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding")
_numbers = itertools.count(1)


class Api:
    """One fresh namespace, in $KUBECONFIG with all rights. ``double`` is None on a real server."""

    def __init__(self, server: ApiDouble | RealApi, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.double = server if isinstance(server, ApiDouble) else None
        self.folder = folder
        self._patch = patch
        self.namespace = f"test-{next(_numbers)}"
        patch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        self.kubeconfig = self.use("admin")
        self.cluster().create(kinds.NAMESPACES, namespace_object(self.namespace))

    @property
    def faults(self) -> Faults:
        """The faults of the double; a test that asks for them takes the fixture ``double``."""
        assert self.double is not None
        return self.double.faults

    def use(self, account: str = "admin", token: str | None = None) -> Path:
        """Make $KUBECONFIG that of an account ("admin" or "nobody"), or one with the given token; returns the file."""
        target = self.folder / f"{account}-{token or ''}.kubeconfig"
        if isinstance(self.server, ApiDouble):
            tokens = {"admin": self.server.admin, "nobody": self.server.nobody}
            write_kubeconfig(target, self.server.url, self.namespace, token or tokens[account])
        else:
            self.server.kubeconfig(target, self.namespace, account, token)
        self._patch.setenv("KUBECONFIG", str(target))
        return target

    def cluster(self, patience: float = 20.0) -> Cluster:
        """A client of this namespace, with the account in use."""
        return Cluster.connect(self.namespace, patience=patience)

    def allow(self, rules: list[Object]) -> None:
        """Give the account "nobody" these RBAC rules in this namespace, and no others."""
        if self.double:
            self.double.tokens[self.double.nobody] = ("nobody", rules)
            return
        admin = self.cluster()
        name = {"metadata": {"name": "nobody"}}
        admin.apply(_RULES, {**name, "rules": rules})
        user = {"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}
        role = {"kind": "Role", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}
        admin.apply(_BINDINGS, {**name, "subjects": [user], "roleRef": role})

    def set_status(self, kind: Kind, name: str, status: Object) -> Object:
        """Merge ``status`` into an object's status, through the status sub-resource, as its operator does."""
        path = kind.path(self.namespace, name, "status")
        code, answer = self.call("PATCH", path, {"status": status}, "application/merge-patch+json")
        assert code == 200, answer
        return answer

    def call(
        self, method: str, path: str, body: Object | None = None, content: str = "application/json"
    ) -> tuple[int, Any]:
        """One request as it stands; returns the HTTP status and the object that came, or the text where it is none."""
        found = connection()
        answer = found.pool.request(
            method,
            found.server + path,
            body=None if body is None else json.dumps(body),
            headers={**found.headers(), "Content-Type": content},
            retries=False,
        )
        text = answer.data.decode()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def report(self, about: Object, reason: str, message: str, kind: str = "Warning", count: int = 1) -> None:
        """Report an Event about an object."""
        self.cluster().create(kinds.EVENTS, event_object(about, reason, message, kind, count))

    def set_log(self, pod: str, text: str, *, previous: bool = False) -> None:
        """What a pod's container printed. Dropped on a real server: it would ask a kubelet."""
        if self.double:
            self.double.logs[(pod, previous)] = text


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApi]:
    """One real API server for the whole session, with the real CRDs where they are at hand."""
    programs = binaries()
    if programs is None:
        pytest.skip("no etcd, or no kube-apiserver in $GAVEL_KUBE_BIN or .gavel/kube/bin: make test-cluster builds one")
    from crds import install, stripped

    with real_api(programs, tmp_path_factory.mktemp("apiserver")) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KUBECONFIG", str(server.kubeconfig(server.folder / "admin.kubeconfig", "default")))
            patch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
            install(Cluster.connect(), stripped())
        yield server


@pytest.fixture(params=["double", pytest.param("real", marks=pytest.mark.cluster)])
def api(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A fresh namespace: of the double always, and of a real server under the marker ``cluster``."""
    if request.param == "real":
        yield Api(request.getfixturevalue("real_server"), tmp_path, monkeypatch)
        return
    with contextlib.closing(_Closing(ApiDouble())) as held:
        yield Api(held.double, tmp_path, monkeypatch)


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A fresh namespace of the double alone, for tests that switch faults on."""
    with contextlib.closing(_Closing(ApiDouble())) as held:
        yield Api(held.double, tmp_path, monkeypatch)


class _Closing:
    def __init__(self, double: ApiDouble) -> None:
        self.double = double

    def close(self) -> None:
        self.double.stop()


__all__ = ["Api", "Transport", "api", "double", "real_server"]
