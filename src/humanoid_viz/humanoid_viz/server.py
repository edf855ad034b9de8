"""The web server: viser, without its public share links, and closed to pages of other origins."""

from __future__ import annotations

import http
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import rich
import viser
import websockets.asyncio.server
from viser._messages import RunJavascriptMessage
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from humanoid_viz.ports import LOCAL_NAMES

Handshake = Callable[[ServerConnection, Request], Response | None]


def is_foreign(origin: str | None, host_header: str, listening_on: str) -> bool:
    """Whether a request comes from a page that another server delivered.

    Browsers let every page open a web socket to every server, localhost included, and the panel
    starts motors. Programs send no origin and are not browsers.
    """
    try:
        asked, came_from = urlsplit(f"//{host_header}"), urlsplit(origin or "")
    except ValueError:
        return True
    if listening_on in LOCAL_NAMES and asked.hostname not in LOCAL_NAMES:
        return True  # a foreign name made to point here
    return origin is not None and came_from.netloc != asked.netloc


def guarded(handshake: Handshake, listening_on: str) -> Handshake:
    """`handshake`, after refusing foreign pages."""

    def refuse_foreign(connection: ServerConnection, request: Request) -> Response | None:
        headers = request.headers
        if is_foreign(headers.get("Origin"), headers.get("Host", ""), listening_on):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "refused: foreign origin\n")
        return handshake(connection, request)

    return refuse_foreign


class GuardedServe(websockets.asyncio.server.serve):
    """Listens for connections as viser asks it to, but refuses foreign pages."""

    def __init__(
        self, handler: Any, host: str, port: int, *, process_request: Handshake, **options: Any
    ) -> None:
        options["process_request"] = guarded(process_request, host)
        super().__init__(handler, host, port, **options)


@contextmanager
def _guarded_handshakes() -> Iterator[None]:
    """While viser starts its server: none of its options reaches the handshake."""
    serve = websockets.asyncio.server.serve
    websockets.asyncio.server.serve = GuardedServe  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]


class PanelServer(viser.ViserServer):  # type: ignore[misc]  # viser counts as untyped
    """Serves the page on `host` and `port`, which must be free; `title` is the page's."""

    def __init__(self, host: str, port: int, title: str) -> None:
        rich.reconfigure(quiet=True)  # viser prints tables; the log says what matters
        with _guarded_handshakes():
            super().__init__(host=host, port=port, label=title, verbose=False)
        # viser has no option for the title of the browser's tab.
        name_tab = RunJavascriptMessage(f"document.title = {json.dumps(title)}")
        self._websock_server.queue_message(name_tab)

    def request_share_url(self, verbose: bool = True) -> None:
        """Refuses: viser would publish the panel, and with it the robot, on the internet."""
