"""The web server: viser, without its public share links, and closed to pages of other origins."""

from __future__ import annotations

import functools
import http
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import rich
import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from humanoid_viz.ports import LOCAL_NAMES

Handshake = Callable[[ServerConnection, Request], Response | None]


def is_foreign(origin: str | None, host_header: str, listening_on: str) -> bool:
    """Whether a request comes from a page that another server delivered.

    Browsers let every page open a web socket to every server, localhost included, and the panel
    starts motors. Programs send no origin and are not browsers.
    """
    asked = urlsplit(f"//{host_header}")
    if listening_on in LOCAL_NAMES and asked.hostname not in LOCAL_NAMES:
        return True  # a foreign name made to point here
    return origin is not None and urlsplit(origin).netloc != asked.netloc


def guarded(handshake: Handshake, listening_on: str) -> Handshake:
    """`handshake`, after refusing foreign pages."""

    def refuse_foreign(connection: ServerConnection, request: Request) -> Response | None:
        headers = request.headers
        if is_foreign(headers.get("Origin"), headers.get("Host", ""), listening_on):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "refused: foreign origin\n")
        return handshake(connection, request)

    return refuse_foreign


@contextmanager
def _guarded_handshakes() -> Iterator[None]:
    """While viser starts its server: no option of viser reaches the handshake."""
    serve = websockets.asyncio.server.serve

    @functools.wraps(serve)
    def guarded_serve(handler: Any, host: str, port: int, **options: Any) -> Any:
        options["process_request"] = guarded(options["process_request"], host)
        return serve(handler, host, port, **options)

    websockets.asyncio.server.serve = guarded_serve
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve


class PanelServer(viser.ViserServer):  # type: ignore[misc]
    """Serves the page on `host` and `port`, which must be free."""

    def __init__(self, host: str, port: int) -> None:
        rich.reconfigure(quiet=True)  # viser prints tables; the log says what matters
        with _guarded_handshakes():
            super().__init__(host=host, port=port, label="Prime", verbose=False)

    def request_share_url(self, verbose: bool = True) -> None:
        """Refuses: viser would publish the panel, and with it the robot, on the internet."""
