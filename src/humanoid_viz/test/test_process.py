"""The viewer as a process: start, log and end."""

from __future__ import annotations

import re
import signal
import socket
import urllib.error
import urllib.request

import pytest


def page_of(viewer) -> bytes:
    with urllib.request.urlopen(viewer.url, timeout=30) as page:
        return page.read()


def test_the_viewer_serves_the_page_without_a_robot_and_prints_its_address_in_one_line(
    start_viewer,
):
    viewer = start_viewer("port:=0")
    assert b"<html" in page_of(viewer)
    viewer.end()
    assert len(viewer.text().splitlines()) == 1
    assert re.search(r"viewer: http://localhost:\d+$", viewer.text())


def test_a_page_for_other_machines_is_printed_with_its_token(start_viewer):
    viewer = start_viewer("port:=0", "host:=0.0.0.0")
    assert re.fullmatch(r"http://localhost:\d+/\?token=[\w-]{32,}", viewer.url)
    bare = viewer.url.split("?")[0]
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        urllib.request.urlopen(bare, timeout=30)
    refused.value.close()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(viewer.url, timeout=30) as page:
        assert (page.url, b"<html" in page.read()) == (bare, True)


def test_a_taken_port_is_reported_and_the_next_free_one_used(start_viewer):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        viewer = start_viewer(f"port:={taken}")
        assert b"<html" in page_of(viewer)
        used = int(viewer.url.rsplit(":", 1)[1])
        assert used > taken
        assert f"port {taken} is taken, using {used}" in viewer.text()


@pytest.mark.parametrize(
    "signals",
    [
        [signal.SIGINT],
        [signal.SIGTERM],
        [signal.SIGINT, signal.SIGINT],
        [signal.SIGINT, signal.SIGTERM, signal.SIGINT],
    ],
    ids=lambda signals: "+".join(s.name for s in signals),
)
def test_signals_end_the_viewer_in_order(start_viewer, robot, signals):
    robot.describe()
    viewer = start_viewer("port:=0")
    assert viewer.url
    for number in signals:
        viewer.process.send_signal(number)
    assert viewer.wait() == 0
    assert "Traceback" not in viewer.text()


def test_ctrl_c_during_the_start_ends_the_viewer_without_a_traceback(start_viewer, wait_until):
    viewer = start_viewer("port:=0")
    status = f"/proc/{viewer.process.pid}/status"

    def catches_sigint() -> bool:
        with open(status) as file:
            caught = re.search(r"SigCgt:\s+(\w+)", file.read())
        # Python itself catches SIGINT; SIGTERM is caught as soon as main() runs.
        return caught is not None and bool(int(caught[1], 16) & 1 << (signal.SIGTERM - 1))

    wait_until(catches_sigint, "main() runs")
    viewer.process.send_signal(signal.SIGINT)
    assert viewer.wait() == 0
    assert "Traceback" not in viewer.text()


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("host:=192.0.2.1", "cannot listen on 192.0.2.1:8080"),
        ("port:=eighty", "port"),
        ("port:=70000", "port"),
    ],
)
def test_wrong_parameter_ends_the_viewer_with_a_message(start_viewer, parameter, message):
    viewer = start_viewer(parameter)
    assert viewer.wait() == 1
    assert message in viewer.text()
    assert "Traceback" not in viewer.text()


def test_joints_that_are_not_described_are_named_once(start_viewer, robot):
    robot.JOINTS = ("shoulder", "wheel")
    robot.describe()
    viewer = start_viewer("port:=0")
    viewer.logs("joint states name joints the robot description lacks: wheel")
    robot.JOINTS = ("shoulder", "wheel", "tail")
    viewer.logs("joint states name joints the robot description lacks: tail")
    assert viewer.text().count("wheel") == 1


def test_a_malformed_description_is_logged_and_ends_nothing(start_viewer, robot):
    robot.describe("<robot>")
    viewer = start_viewer("port:=0")
    viewer.logs("robot description is not valid XML")
    assert b"<html" in page_of(viewer)
