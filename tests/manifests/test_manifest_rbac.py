"""The rights of each service account: exactly those that the code uses."""

import ast
from pathlib import Path

import pytest
from manifest_objects import ALL, ROOT, Object, objects, of_kind

from components.kube import kinds
from components.kube.kinds import Kind

# What each method of components.kube.cluster.Cluster asks of the API server.
VERBS = {
    "get": {"get"},
    "list": {"list"},
    "create": {"create"},
    "apply": {"create", "patch"},
    "edit": {"get", "update"},
    "delete": {"delete"},
    "watch": {"list", "watch"},
}
KNOWN = {name: value for name, value in vars(kinds).items() if isinstance(value, Kind)}
STEPS = ("components/judge", "components/rayjob", "components/deploy_judge", "components/teardown_judge")
# The fixed list: a right more is a decision, made here and in the role together.
PIPELINE = {
    "inferenceservices.serving.kserve.io": {"create", "delete", "get", "list", "update", "watch"},
    "rayjobs.ray.io": {"create", "delete", "get", "list", "watch"},
    "workloads.kueue.x-k8s.io": {"list"},
    "pods": {"list"},
    "pods/log": {"get"},
    "events": {"list"},
}
SWEEPER = {"inferenceservices.serving.kserve.io": {"delete", "get", "list", "update"}}
KFP_RUN = {
    "workflowtaskresults.argoproj.io": {"create", "patch"},
    "pods": {"get"},
    "configmaps[kfp-launcher]": {"get"},
    "secrets[mlpipeline-minio-artifact]": {"get"},
}
ROLES = {"gavel-pipeline": PIPELINE, "gavel-sweeper": SWEEPER, "gavel-kfp-run": KFP_RUN}


def granted(role: Object) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                name = f"{resource}.{group}" if group else resource
                name += f"[{','.join(rule['resourceNames'])}]" if "resourceNames" in rule else ""
                found.setdefault(name, set()).update(rule["verbs"])
    return found


def asked(files: list[Path]) -> dict[str, set[str]]:
    """Resources and verbs of the calls ``cluster.VERB(KIND, ...)``, ``cluster.pods``, ``.events`` and ``.log``."""
    found: dict[str, set[str]] = {}
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = ast.unparse(node.func.value)
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Name) and first.id in KNOWN and node.func.attr in VERBS:
                found.setdefault(KNOWN[first.id].resource, set()).update(VERBS[node.func.attr])
            elif owner.endswith("cluster"):
                for method, resource, verb in (("pods", "pods", "list"), ("events", "events", "list")):
                    if node.func.attr == method:
                        found.setdefault(resource, set()).add(verb)
                if node.func.attr == "log":
                    found.setdefault("pods/log", set()).add("get")
    return found


@pytest.mark.parametrize("overlay", ALL)
def test_roles_are_exactly_the_listed_ones(overlay: str) -> None:
    roles = of_kind(overlay, "Role")
    assert {role["metadata"]["name"] for role in roles} == set(ROLES)
    for role in roles:
        assert granted(role) == ROLES[role["metadata"]["name"]]


@pytest.mark.parametrize("overlay", ALL)
def test_no_role_spans_namespaces_or_has_a_wildcard(overlay: str) -> None:
    assert not of_kind(overlay, "ClusterRole")
    assert not of_kind(overlay, "ClusterRoleBinding")
    for role in of_kind(overlay, "Role"):
        for rule in role["rules"]:
            assert "*" not in {*rule["verbs"], *rule["resources"], *rule["apiGroups"]}


def test_the_steps_rights_are_those_that_the_code_of_the_steps_uses() -> None:
    files = [path for folder in STEPS for path in (ROOT / folder).rglob("*.py")]
    assert asked(files) == PIPELINE


def test_the_sweepers_rights_cover_the_code_that_it_runs() -> None:
    leases = ROOT / "components" / "judge" / "leases"
    used = asked([leases / "sweep.py", leases / "hold.py"])
    assert used == {
        "inferenceservices.serving.kserve.io": SWEEPER["inferenceservices.serving.kserve.io"] | {"create"}
    }, "the sweeper makes no judge: create is in hold.take alone, which it does not call"
    calls = {
        node.func.id
        for node in ast.walk(ast.parse((leases / "sweep.py").read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "take" not in calls


@pytest.mark.parametrize("overlay", ALL)
def test_rights_are_bound_to_the_accounts_that_need_them_and_to_no_other(overlay: str) -> None:
    bound: dict[str, set[str]] = {}
    for binding in of_kind(overlay, "RoleBinding"):
        assert binding["roleRef"]["kind"] == "Role"
        for subject in binding["subjects"]:
            assert subject["kind"] == "ServiceAccount"
            where = f"{binding['metadata']['namespace']}/{binding['roleRef']['name']}"
            bound.setdefault(f"{subject['namespace']}/{subject['name']}", set()).add(where)
    expected = {
        "gavel/gavel-pipeline": {"gavel/gavel-pipeline", "gavel/gavel-kfp-run"},
        "gavel/gavel-sweeper": {"gavel/gavel-sweeper"},
    }
    if overlay in ("dev", "h800"):
        expected["kubeflow/gavel-pipeline"] = {"gavel/gavel-pipeline", "kubeflow/gavel-kfp-run"}
    assert bound == expected
    accounts = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        for item in objects(overlay)
        if item["kind"] == "ServiceAccount"
    }
    assert bound.keys() <= accounts
