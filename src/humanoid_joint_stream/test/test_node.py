"""The server's node: statements of the mode manager, and the thread that reads the robot."""

from __future__ import annotations

import logging
import threading

import pytest
from humanoid_control_msgs.msg import ControlMode

from humanoid_control_common.rules.modes import Mode
from humanoid_joint_stream.server.attachment import Attachment
from humanoid_joint_stream.server.node import RobotPoller, situation_of
from humanoid_joint_stream.server.session import Situation
from src.humanoid_joint_stream.test.joint_bench import Bench
from src.humanoid_joint_stream.test.test_server import Link


def test_a_statement_is_what_names_a_controller_and_a_known_mode() -> None:
    stated = ControlMode(mode=1, controller_name="damping", status_message="why", switch_number=3)
    assert situation_of(stated) == Situation(Mode.DAMPING, "why", (), 3)
    assert situation_of(ControlMode(mode=1)) is None, "a request"
    assert situation_of(ControlMode(mode=77, controller_name="damping")) is None


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
