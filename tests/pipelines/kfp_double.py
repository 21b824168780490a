"""KFP's API over real HTTP: keeps experiments, pipelines, versions and runs, reads uploaded packages as KFP does, and
fails on demand."""

import asyncio
import json
import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from aiohttp import web
from google.protobuf import json_format

API = "/apis/v2beta1"
Json = dict[str, Any]


class KfpDouble:
    """A server in a thread of its own.

    Attributes:
        experiments, pipelines, versions, runs: what it keeps, by id.
        faults: (method, part of the path, fault) that the next such request meets, once: a status, ``drop`` or
            ``slow``.
        token: if set, what ``Authorization`` must carry.
        forbids: part of a path that is answered with 403.
        asked: (method, path) of each request.
    """

    def __init__(self, *, multi_user: bool = False) -> None:
        self.multi_user = multi_user
        self.experiments: dict[str, Json] = {}
        self.pipelines: dict[str, Json] = {}
        self.versions: dict[str, Json] = {}
        self.runs: dict[str, Json] = {}
        self.faults: list[tuple[str, str, str]] = []
        self.token = ""
        self.forbids = ""
        self.page = ""
        self.asked: list[tuple[str, str]] = []
        self._clock = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = str(asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10))

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def run(self, **fields: Any) -> Json:
        """Put a run there, as if it had been submitted by somebody."""
        self._clock += timedelta(minutes=1)
        run = {"run_id": str(uuid.uuid4()), "created_at": self._clock.isoformat(), "state": "RUNNING", **fields}
        self.runs[run["run_id"]] = run
        return run

    async def _start(self) -> str:
        app = web.Application(middlewares=[self._gate], client_max_size=16 << 20)
        app.router.add_get(f"{API}/healthz", self._healthz)
        app.router.add_get(f"{API}/experiments", self._list_experiments)
        app.router.add_post(f"{API}/experiments", self._make_experiment)
        app.router.add_get(f"{API}/pipelines", self._list_pipelines)
        app.router.add_post(f"{API}/pipelines", self._make_pipeline)
        app.router.add_post(f"{API}/pipelines/upload_version", self._upload_version)
        app.router.add_get(f"{API}/pipelines/{{id}}/versions", self._list_versions)
        app.router.add_get(f"{API}/runs", self._list_runs)
        app.router.add_post(f"{API}/runs", self._make_run)
        app.router.add_get(f"{API}/runs/{{id}}", self._get_run)
        app.router.add_post(f"{API}/runs/{{id}}:terminate", self._terminate)
        self._runner = web.AppRunner(app, shutdown_timeout=0.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        return f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]

    @web.middleware
    async def _gate(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append((request.method, request.path))
        if self.page:
            return web.Response(text=self.page, content_type="text/html")
        for fault in self.faults:
            method, path, what = fault
            if request.method == method and path in request.path:
                self.faults.remove(fault)
                if what == "drop":
                    assert request.transport is not None
                    request.transport.close()
                    return web.Response()
                if what == "slow":
                    await asyncio.sleep(1.5)
                    break
                return refusal(int(what), "the database is away")
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return refusal(401, "Request header error: there is no user identity header")
        if self.forbids and self.forbids in request.path:
            return refusal(403, "User 'jo' is not authorized")
        found: web.StreamResponse = await handler(request)
        return found

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.json_response({"multi_user": self.multi_user})

    async def _list_experiments(self, request: web.Request) -> web.Response:
        return self._listed(request, "experiments", list(self.experiments.values()))

    async def _make_experiment(self, request: web.Request) -> web.Response:
        return self._kept(self.experiments, "experiment_id", await request.json())

    async def _list_pipelines(self, request: web.Request) -> web.Response:
        return self._listed(request, "pipelines", list(self.pipelines.values()))

    async def _make_pipeline(self, request: web.Request) -> web.Response:
        return self._kept(self.pipelines, "pipeline_id", await request.json())

    async def _list_versions(self, request: web.Request) -> web.Response:
        mine = [one for one in self.versions.values() if one["pipeline_id"] == request.match_info["id"]]
        return self._listed(request, "pipeline_versions", mine, names=False)

    async def _upload_version(self, request: web.Request) -> web.Response:
        form = await request.post()
        package = form["uploadfile"]
        assert isinstance(package, web.FileField)
        if request.query["pipelineid"] not in self.pipelines:
            return refusal(404, "pipeline not found")
        try:
            spec, platform = parse_package(package.file.read().decode())
        except (ValueError, json_format.ParseError, yaml.YAMLError) as error:
            return refusal(400, f"invalid package: {error}")
        body = {
            "display_name": request.query["name"],
            "pipeline_id": request.query["pipelineid"],
            "pipeline_spec": {"pipeline_spec": spec, "platform_spec": platform},
        }
        return self._kept(self.versions, "pipeline_version_id", body)

    async def _list_runs(self, request: web.Request) -> web.Response:
        assert request.query.get("sort_by") == "created_at desc"
        wanted = request.query.get("experiment_id")
        runs = [run for run in self.runs.values() if wanted in (None, run.get("experiment_id"))]
        runs.sort(key=lambda run: str(run["created_at"]), reverse=True)
        # As KFP's lists: without the tasks.
        return self._listed(request, "runs", [{k: v for k, v in run.items() if k != "run_details"} for run in runs])

    async def _make_run(self, request: web.Request) -> web.Response:
        body = await request.json()
        reference = body["pipeline_version_reference"]
        version = self.versions.get(reference["pipeline_version_id"])
        if version is None or version["pipeline_id"] != reference["pipeline_id"]:
            return refusal(404, "pipeline version not found")
        if body["experiment_id"] not in self.experiments:
            return refusal(404, "experiment not found")
        declared = version["pipeline_spec"]["pipeline_spec"]["root"]["inputDefinitions"]["parameters"]
        given = body["runtime_config"]["parameters"]
        for name, value in given.items():
            if name not in declared:
                return refusal(400, f"parameter {name} is not in the pipeline")
            if declared[name]["parameterType"] != "STRING" or not isinstance(value, str):
                return refusal(400, f"parameter {name} is not of its type")
        missing = [n for n, d in declared.items() if n not in given and "defaultValue" not in d]
        if missing:
            return refusal(400, f"parameters {missing} are missing")
        return web.json_response(self.run(**body, state="PENDING"))

    async def _get_run(self, request: web.Request) -> web.Response:
        run = self.runs.get(request.match_info["id"])
        return web.json_response(run) if run else refusal(404, f"Run {request.match_info['id']} not found")

    async def _terminate(self, request: web.Request) -> web.Response:
        self.runs[request.match_info["id"]]["state"] = "CANCELING"
        return web.json_response({})

    def _kept(self, shelf: dict[str, Json], key: str, body: Json) -> web.Response:
        made = {**body, key: str(uuid.uuid4()), "created_at": self._clock.isoformat()}
        shelf[made[key]] = made
        return web.json_response(made)

    def _listed(self, request: web.Request, key: str, found: list[Json], *, names: bool = True) -> web.Response:
        if names and "experiment_id" not in request.query:
            # Who serves several users wants a namespace, and who serves one refuses it.
            if self.multi_user and not request.query.get("namespace"):
                return refusal(400, "a namespace is needed in multi-user mode")
            if not self.multi_user and request.query.get("namespace"):
                return refusal(400, "no namespace in single-user mode")
        if self.multi_user and (namespace := request.query.get("namespace")):
            found = [one for one in found if one.get("namespace", namespace) == namespace]
        for predicate in json.loads(request.query.get("filter") or "{}").get("predicates", []):
            assert predicate["operation"] == 1
            found = [one for one in found if one.get(predicate["key"]) == predicate["stringValue"]]
        first = int(request.query.get("page_token") or 0)
        size = int(request.query.get("page_size") or 10)
        token = str(first + size) if first + size < len(found) else ""
        return web.json_response({key: found[first : first + size], "next_page_token": token})


def refusal(status: int, text: str) -> web.Response:
    return web.json_response({"error": text, "code": 5, "message": text}, status=status)


def parse_package(text: str) -> tuple[Json, Json]:
    """Both documents, read into KFP's own messages, which know no field that is not theirs."""
    from kfp.pipeline_spec import pipeline_spec_pb2

    pipeline, platform = yaml.safe_load_all(text)
    spec = json_format.ParseDict(pipeline, pipeline_spec_pb2.PipelineSpec())
    settings = json_format.ParseDict(platform, pipeline_spec_pb2.PlatformSpec())
    return json_format.MessageToDict(spec), json_format.MessageToDict(settings)
