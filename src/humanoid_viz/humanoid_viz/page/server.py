"""The web server: viser, without its public share links, and closed to pages of other origins."""

import http
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import rich
import viser
import websockets.asyncio.server
from viser._messages import RunJavascriptMessage
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from humanoid_viz.page.page_token import Token
from humanoid_viz.page.ports import LOCAL_NAMES

CONNECTIONS = logging.getLogger(f"{__name__}.connections")
FRAMES = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
NO_FRAMES = {"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY"}
Handshake = Callable[[ServerConnection, Request], Response | None]


def is_foreign(origin: str | None, host_header: str, listening_on: str) -> bool:
    """Return whether a request comes from a page of another server.

    Browsers let every page open a web socket to every server, localhost included, and the panel
    starts motors. Programs other than browsers send no origin.
    """
    try:
        target, source = urlsplit(f"//{host_header}"), urlsplit(origin or "")
    except ValueError:
        return True
    if listening_on in LOCAL_NAMES and target.hostname not in LOCAL_NAMES:
        return True  # a foreign name that resolves to this machine
    return origin is not None and source.netloc != target.netloc


def is_used_by_another_page(headers: Headers) -> bool:
    """Return whether another page shows this one in itself, or loads a part of it.

    In an invisible frame under the mouse, a click would start motors. Browsers state what a request
    is for (W3C Fetch Metadata), to addresses that they trust, such as localhost. A web socket has
    its origin instead, see `is_foreign`.
    """
    if headers.get("Sec-Fetch-Dest") in FRAMES:
        return True
    opened = headers.get("Sec-Fetch-Mode") in ("navigate", "websocket")
    return headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and not opened


def guarded(handshake: Handshake, listening_on: str, token: Token | None = None) -> Handshake:
    """Return `handshake`, preceded by refusals of foreign pages and requests without token.

    No browser shows its answers in a frame.
    """

    def answer(connection: ServerConnection, request: Request) -> Response | None:
        headers = request.headers
        if is_foreign(
            headers.get("Origin"), headers.get("Host", ""), listening_on
        ) or is_used_by_another_page(headers):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "refused: foreign origin\n")
        refusal = None if token is None else token.answer(connection, request)
        return refusal or handshake(connection, request)

    def refuse_or_shake(connection: ServerConnection, request: Request) -> Response | None:
        response = answer(connection, request)
        if response is not None:
            response.headers.update(NO_FRAMES)
        return response

    return refuse_or_shake


class GuardedServe(websockets.asyncio.server.serve):
    """Listens for connections with viser's options, and refuses some of them, see `guarded`."""

    def __init__(
        self,
        handler: Any,
        host: str,
        port: int,
        *,
        process_request: Handshake,
        token: Token | None,
        **options: Any,
    ) -> None:
        options["process_request"] = guarded(process_request, host, token)
        options["logger"] = CONNECTIONS
        super().__init__(handler, host, port, **options)


def _in_one_line(record: logging.LogRecord) -> bool:
    """Log an error of a connection without its traceback: any client can cause it."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        cause = error.__cause__ or error
        record.msg = f"{record.getMessage()}: {type(cause).__name__}: {cause}"
        record.args, record.exc_info = (), None
    return True


CONNECTIONS.addFilter(_in_one_line)
CONNECTIONS.setLevel(logging.WARNING)  # not each connection


@contextmanager
def _guarded_handshakes(token: Token | None) -> Iterator[None]:
    """Replace the server class while viser starts: viser has no option for the handshake."""
    serve = websockets.asyncio.server.serve
    websockets.asyncio.server.serve = partial(GuardedServe, token=token)  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = serve  # type: ignore[misc]


class PanelServer(viser.ViserServer):  # type: ignore[misc]  # viser counts as untyped
    """Serves the page on `host` and `port`, which must be free; `title` is the page's."""

    def __init__(self, host: str, port: int, title: str, token: Token | None = None) -> None:
        rich.reconfigure(quiet=True)  # viser prints tables; the log has the address
        with _guarded_handshakes(token):
            super().__init__(host=host, port=port, label=title, verbose=False)
        # viser has no option for the title of the browser's tab.
        name_tab = RunJavascriptMessage(f"document.title = {json.dumps(title)}")
        self._websock_server.queue_message(name_tab)

    def request_share_url(self, verbose: bool = True) -> None:
        """Do nothing: viser would publish the panel, and with it the robot, on the internet."""
