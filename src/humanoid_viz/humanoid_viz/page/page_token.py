"""The token of a page that other machines can reach.

The page's address contains it once; from then on the browser sends it as a cookie, also with the
handshake of the web socket. It doesn't protect against eavesdropping: HTTP is not encrypted.
"""

import hashlib
import hmac
import http
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from humanoid_control_common.configuration.config import read_secret
from humanoid_control_common.errors import ConfigError
from humanoid_viz.page.ports import LOCAL_NAMES

PARAMETER: Final = "token"
SHORTEST: Final = 16  # characters of a token from a file
REFUSAL: Final = "refused: open the address that the viewer printed, with its token\n"


@dataclass(frozen=True, slots=True)
class Token:
    """A secret, and the check that a request contains it."""

    secret: str = field(repr=False)
    source: str = ""  # its file; empty: generated at this start

    @property
    def cookie(self) -> str:
        """Name of the cookie: one for each token, as ports share cookies."""
        return f"humanoid_control_{hashlib.sha256(self.secret.encode()).hexdigest()[:8]}"

    def in_url(self, base: str) -> str:
        """Return the page's address with the token, to be opened once."""
        return f"{base}/?{PARAMETER}={self.secret}"

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return a refusal of `request`, or a redirect that sets the cookie; None to accept it."""
        try:
            address = urlsplit(request.path)
        except ValueError:  # no address that a browser sends
            return connection.respond(http.HTTPStatus.UNAUTHORIZED, REFUSAL)
        query = parse_qsl(address.query, keep_blank_values=True)
        if any(self._is(value) for name, value in query if name == PARAMETER):
            rest = urlencode([pair for pair in query if pair[0] != PARAMETER])
            response = connection.respond(http.HTTPStatus.SEE_OTHER, "")
            # The redirect keeps the token out of the address bar and the history.
            response.headers["Location"] = (address.path or "/") + (f"?{rest}" if rest else "")
            # Lax: with Strict, a link in a mail would end at the refusal, as the redirect has no
            # cookie then. Against pages of other ports of this host neither of them helps.
            response.headers["Set-Cookie"] = (
                f"{self.cookie}={self.secret}; HttpOnly; SameSite=Lax; Path=/"
            )
            return response
        if self._is(_cookie(request, self.cookie)):
            return None
        return connection.respond(http.HTTPStatus.UNAUTHORIZED, REFUSAL)

    def _is(self, text: str) -> bool:
        # Bytes that are no UTF-8 arrive as surrogates.
        return hmac.compare_digest(text.encode(errors="surrogateescape"), self.secret.encode())


def token_for(host: str, file: str) -> Token | None:
    """Return the token of `file`; without a file none for local hosts, else a new one.

    Raises ConfigError if the file can't be read or holds no token.
    """
    if file:
        return _from_file(Path(file))
    return None if host in LOCAL_NAMES else Token(secrets.token_urlsafe(24))


def _from_file(path: Path) -> Token:
    try:
        text = read_secret(path).strip()
    except ConfigError as error:
        raise ConfigError(f"token_file: {error}") from error
    if len(text) < SHORTEST or not set(text) <= _PLAIN:
        raise ConfigError(
            f"token_file: {path} holds no token: expected at least {SHORTEST} letters, digits, "
            "'-' and '_'"
        )
    return Token(text, str(path))


_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def _cookie(request: Request, name: str) -> str:
    found = ""
    for header in request.headers.get_all("Cookie"):
        try:
            morsel = SimpleCookie(header).get(name)
        except CookieError:
            continue
        found = morsel.value if morsel else found
    return found
