from __future__ import annotations

import http.client
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from email.message import Message

import pytest
from viser import __version__ as viser_version
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from humanoid_control_common.errors import ConfigError
from humanoid_viz.page.page_token import REFUSAL, Token, token_for
from humanoid_viz.page.ports import LAST_PORT, LOCAL_NAMES, free_port, url
from humanoid_viz.page.server import PanelServer, is_foreign


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port of 127.0.0.1 in use."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def server() -> Iterator[PanelServer]:
    server = PanelServer("127.0.0.1", 0, "Prime")
    yield server
    server.stop()


def test_a_free_port_is_used_and_a_taken_one_skipped(taken):
    found = free_port("127.0.0.1", taken)
    assert found > taken
    assert free_port("127.0.0.1", found) == found


def test_port_in_use_on_all_addresses_is_not_free_on_a_single_address():
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port = listener.getsockname()[1]
        assert free_port("127.0.0.1", port) > port


def test_port_zero_leaves_the_choice_to_the_system():
    assert free_port("127.0.0.1", 0) == 0


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid", "not an address"])
def test_an_address_that_is_not_this_machine_s_is_refused(host):
    with pytest.raises(ConfigError, match=f"cannot listen on {host}:8080"):
        free_port(host, 8080)


def test_ports_end_at_the_last(taken, monkeypatch):
    monkeypatch.setattr("humanoid_viz.page.ports._is_free", lambda host, port: False)
    with pytest.raises(ConfigError, match=f"ports {LAST_PORT - 1} to {LAST_PORT} of"):
        free_port("127.0.0.1", LAST_PORT - 1)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://localhost:8080"),
        ("0.0.0.0", "http://localhost:8080"),
        ("10.0.0.7", "http://10.0.0.7:8080"),
        ("fe80::1", "http://[fe80::1]:8080"),
    ],
)
def test_url_can_be_opened_by_a_browser_on_this_machine(host, address):
    assert url(host, 8080) == address


@pytest.mark.parametrize(
    ("origin", "asked", "listening_on", "foreign"),
    [
        ("http://localhost:8080", "localhost:8080", "127.0.0.1", False),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", False),
        (None, "localhost:8080", "127.0.0.1", False),
        ("http://localhost:9000", "localhost:9000", "127.0.0.1", False),  # through a tunnel
        ("https://evil.example", "localhost:8080", "127.0.0.1", True),
        ("http://localhost:3000", "localhost:8080", "127.0.0.1", True),
        ("null", "localhost:8080", "127.0.0.1", True),
        ("http://evil.example:8080", "evil.example:8080", "127.0.0.1", True),  # DNS rebinding
        (None, "evil.example:8080", "127.0.0.1", True),
        (None, "", "127.0.0.1", True),
        ("http://[", "localhost:8080", "127.0.0.1", True),
        ("http://robot.lab:8080", "robot.lab:8080", "0.0.0.0", False),
        ("https://evil.example", "robot.lab:8080", "0.0.0.0", True),
    ],
)
def test_only_the_page_s_own_origin_may_connect(origin, asked, listening_on, foreign):
    assert is_foreign(origin, asked, listening_on) is foreign


def test_the_page_of_another_site_can_t_open_the_panel_s_socket(server):
    address = f"ws://localhost:{server.get_port()}"
    protocol = f"viser-v{viser_version}"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, origin="https://evil.example", subprotocols=[protocol])
    assert refused.value.response.status_code == 403
    own = f"http://localhost:{server.get_port()}"
    with connect(address, origin=own, subprotocols=[protocol], max_size=None) as socket:
        assert socket.recv(timeout=30)


def test_the_page_is_served_and_foreign_names_for_it_refused(server):
    address = f"http://localhost:{server.get_port()}/"
    with urllib.request.urlopen(address, timeout=30) as page:
        assert b"<html" in page.read()
    request = urllib.request.Request(address, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    with refused.value as answer:
        assert answer.code == 403


@pytest.mark.parametrize(
    ("destination", "mode", "site", "status"),
    [
        ("document", "navigate", "none", 200),  # typed by the user
        ("document", "navigate", "cross-site", 200),  # a link in another page
        ("script", "no-cors", "same-origin", 200),
        ("iframe", "navigate", "cross-site", 403),
        ("iframe", "navigate", "same-site", 403),  # of another port of this host
        ("frame", "navigate", "same-origin", 403),
        ("embed", "no-cors", "same-origin", 403),
        ("object", "navigate", "cross-site", 403),
        ("empty", "cors", "same-site", 403),
        ("script", "no-cors", "cross-site", 403),
    ],
)
def test_another_page_can_t_contain_the_panel_or_parts_of_it(
    server, destination, mode, site, status
):
    meant = {"Sec-Fetch-Dest": destination, "Sec-Fetch-Mode": mode, "Sec-Fetch-Site": site}
    address = f"127.0.0.1:{server.get_port()}"
    found, _, headers = answer_of(address, sent=meant)
    assert found == status
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("path", ["/", "/missing", f"/?token={'x' * 16}"])
def test_no_answer_may_be_shown_in_a_frame(server, token_server, path):
    for address in (f"127.0.0.1:{server.get_port()}", token_server):
        _, _, headers = answer_of(address, path)
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert headers["X-Frame-Options"] == "DENY"


SECRET = "a_secret_of_at_least_16_characters"


@pytest.fixture
def token_server() -> Iterator[str]:
    server = PanelServer("0.0.0.0", 0, "Prime", Token(SECRET))
    yield f"127.0.0.1:{server.get_port()}"
    server.stop()


def answer_of(
    address: str, path: str = "/", cookie: str = "", sent: dict[str, str] | None = None
) -> tuple[int, bytes, Message]:
    """Status, body and headers."""
    headers = (sent or {}) | ({"Cookie": cookie} if cookie else {})
    with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as answer:
            return answer.status, answer.read(), answer.headers


def test_the_token_brought_once_becomes_a_cookie_that_opens_page_and_socket(token_server):
    status, _, headers = answer_of(token_server, f"/?fixedDpr=1&token={SECRET}")
    assert (status, headers["Location"]) == (303, "/?fixedDpr=1")
    given = headers["Set-Cookie"]
    for attribute in ("HttpOnly", "SameSite=Lax", "Path=/"):
        assert attribute in given
    cookie = given.split(";")[0]
    status, page, _ = answer_of(token_server, "/?fixedDpr=1", f"other=1; {cookie}")
    assert (status, b"<html" in page) == (200, True)
    protocol, own = f"viser-v{viser_version}", f"http://{token_server}"
    with connect(
        f"ws://{token_server}",
        origin=own,
        subprotocols=[protocol],
        additional_headers={"Cookie": cookie},
        max_size=None,
    ) as socket:
        assert socket.recv(timeout=30)


@pytest.mark.parametrize(
    ("path", "cookie"),
    [
        ("/", ""),
        ("/?token=", ""),
        (f"/?token={SECRET[:-1]}", ""),
        (f"/?Token={SECRET}", ""),
        ("/?token=%C3%A9", ""),
        (f"/{SECRET}", ""),
        ("/", f"{Token(SECRET).cookie}=wrong"),
        ("/", f"token={SECRET}"),
        ("/", f"{Token('another').cookie}={SECRET}"),
        ("/", '"]=;;,'),
    ],
)
def test_without_the_token_there_is_neither_page_nor_socket(token_server, path, cookie):
    assert answer_of(token_server, path, cookie)[:2] == (401, REFUSAL.encode())
    with pytest.raises(InvalidStatus) as socket:
        connect(
            f"ws://{token_server}{path}",
            subprotocols=[f"viser-v{viser_version}"],
            additional_headers={"Cookie": cookie} if cookie else {},
        )
    assert socket.value.response.status_code == 401


@pytest.mark.parametrize(
    "request_line", [b"GET /?token=\xff", b"GET //[x", b"GET http://[", b"GET /?token=%ff"]
)
def test_an_address_that_no_browser_sends_is_refused_like_any_other(token_server, request_line):
    answer = raw_answer(token_server, request_line + b" HTTP/1.1\r\nHost: robot\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("line", [b"\xff\xff", b"POST / HTTP/1.1"])
def test_a_connection_that_speaks_no_http_is_logged_in_one_line(
    token_server, caplog, wait_until, line
):
    raw_answer(token_server, line + b"\r\n\r\n")
    wait_until(lambda: bool(caplog.records), "a record")
    (record,) = caplog.records
    assert record.exc_info is None
    assert record.getMessage().startswith("opening handshake failed: ")


def raw_answer(address: str, sent: bytes) -> bytes:
    """Return all that the server sends until it closes the connection."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_foreign_page_is_refused_even_with_the_cookie(token_server):
    with pytest.raises(InvalidStatus) as refused:
        connect(
            f"ws://{token_server}",
            origin="https://evil.example",
            subprotocols=[f"viser-v{viser_version}"],
            additional_headers={"Cookie": f"{Token(SECRET).cookie}={SECRET}"},
        )
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("host", sorted(LOCAL_NAMES))
def test_on_this_machine_alone_no_token_is_needed(host):
    assert token_for(host, "") is None


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "10.0.0.7", "robot.lab"])
def test_a_public_viewer_has_a_new_token(host):
    made = [token_for(host, "") for _ in range(2)]
    assert made[0].secret != made[1].secret
    assert len(made[0].secret) >= 32
    assert made[0].secret not in repr(made[0])


def test_a_token_may_come_from_a_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    assert token_for("127.0.0.1", str(file)) == Token(SECRET, str(file))


@pytest.mark.parametrize("content", ["", "short\n", "sixteen characters;x", None])
def test_a_file_without_a_token_is_refused(tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=f"token_file: {file}"):
        token_for("0.0.0.0", str(file))


def test_the_panel_is_never_published_on_the_internet(server):
    assert server.request_share_url() is None
