"""A scripted server on a free port of this machine."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Behaviour = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
"""Answers one call, given its decoded body."""


@contextlib.asynccontextmanager
async def served(*routes: web.RouteDef) -> AsyncIterator[str]:
    """Serve the routes; gives the base URL."""
    app = web.Application()
    app.add_routes(routes)
    server = TestServer(app)
    await server.start_server()
    try:
        yield str(server.make_url("")).rstrip("/")
    finally:
        await server.close()


def next_of(behaviours: Sequence[Behaviour], came: int) -> Behaviour:
    """Who answers call number ``came``, from 1: one call each, the last one all further ones."""
    return behaviours[min(came, len(behaviours)) - 1]
