"""The server's node: statements of the mode manager, and the thread that reads the robot."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from test_support.lone_node import LoneNode

from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_joint_stream import ros
from humanoid_joint_stream.ros import SILENT, SOURCE, ServerWatch
from humanoid_joint_stream.server.attachment import Attachment
from humanoid_joint_stream.server.node import RobotPoller, situation_of
from humanoid_joint_stream.server.session import Situation
from humanoid_joint_stream.shared.stream_file import attach, release
from src.humanoid_joint_stream.test.joint_bench import Bench
from src.humanoid_joint_stream.test.test_server import Link


def test_a_statement_is_what_names_a_controller_and_a_known_mode() -> None:
    stated = ControlMode(mode=1, controller_name="damping", status_message="why", switch_number=3)
    assert situation_of(stated) == Situation(Mode.DAMPING, "why", (), 3)
    assert situation_of(ControlMode(mode=1)) is None, "a request"
    assert situation_of(ControlMode(mode=77, controller_name="damping")) is None


@pytest.fixture
def host() -> Iterator[LoneNode]:
    it = LoneNode("joint_stream_controller")
    yield it
    it.close()


def test_a_server_that_falls_silent_is_a_warning_until_it_is_there_again(host: LoneNode) -> None:
    bench, reports = Bench(), list[SafetyStatus]()
    host.node.create_subscription(SafetyStatus, "safety_status", reports.append, LATCHED)
    watch = ServerWatch(host.node, bench.file, lambda: bench.now)
    host.spin_until(lambda: watch._reports.get_subscription_count() > 0)
    watch.check()
    bench.now += SILENT
    watch.check()
    bench.now += 1
    watch.check()
    host.spin_until(lambda: bool(reports))
    bench.poll()
    watch.check()
    host.spin_until(lambda: len(reports) == 2)
    assert [it.level for it in reports] == [SafetyLevel.WARNING, SafetyLevel.OK]
    assert [it.source for it in reports] == [SOURCE] * 2


@pytest.mark.parametrize("lives", [False, True])
def test_the_end_of_the_control_process_removes_the_socket_of_a_server_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: LoneNode, lives: bool
) -> None:
    memory, socket = tmp_path / "a.stream", tmp_path / "a.sock"
    monkeypatch.setattr(ros, "path_of", lambda namespace: memory)
    monkeypatch.setattr(ros, "socket_path", lambda namespace: socket)
    at_exit = list[Callable[[], None]]()
    monkeypatch.setattr(ros.atexit, "register", at_exit.append)
    facts: Any = None
    context = PluginContext(host.node, facts, lambda: 0.0, lambda _: 0)
    ros.attach_joint_stream(context, Bench().controller)
    socket.touch()
    server = attach(memory)[1] if lives else None
    (remove,) = at_exit
    remove()
    assert (memory.exists(), socket.exists()) == (False, lives)
    if server is not None:
        release(server)


def test_watch_thread_continues_after_an_error_and_reports_it_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench, again = Bench(), threading.Event()

    class Failing(Attachment):
        polls = 0

        def poll(self) -> None:
            self.polls += 1
            if self.polls == 3:
                again.set()
            raise OSError("no descriptor is free")

    link = Link(bench)
    poller = RobotPoller(Failing(link, lambda: bench.now, None), link, lambda: bench.now)
    try:
        assert again.wait(10.0)
    finally:
        poller.stop()
    (record,) = (it for it in caplog.records if it.levelno == logging.ERROR)
    assert record.exc_text is not None
    assert "no descriptor is free" in record.exc_text
