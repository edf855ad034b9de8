"""Stop, heartbeat and power-down from a terminal: the real control process on mock hardware."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
import rclpy
from humanoid_control_msgs.msg import ControlMode
from rclpy.client import Client as ServiceClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger
from test_support.ros.ros_domains import on_reserved_domain
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import NoAnswerError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Intent, Mode

if TYPE_CHECKING:
    from pathlib import Path

    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = 30.0  # [s]; a dead-man's switch
CLEARED = "faults cleared; the robot had fallen: emergency stop (/emergency_stop)"
DISABLED = "all joints are without torque: PrimeMock (deactivated)"


def test_stop_and_lost_heartbeat_hold_until_the_fault_is_cleared_and_hc_down_ends_the_robot(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = start.hc("up", "mock", "--no-viewer", "--no-black-box", "--heartbeat", "desk:1.0")
    up.wait_for("Prime is up: ZERO_TORQUE, joint states at ")
    for name, value in start.environment.items():
        monkeypatch.setenv(name, value)
    with Client(TIMEOUT) as client:
        modes = ModeClient(client)
        number = modes.request(Intent.DAMP).switch_number
        assert start.ask("mode", "load") == (1, "hc: Rejected LOAD: no heartbeat of desk yet")
        unknown = (
            "the robot requires no heartbeat of 'dsek', so it would not stop when this one ends"
        )
        assert start.ask("heartbeat", "dsek") == (1, f"hc: {unknown}; it requires: desk")
        code, text = start.ask("stop")  # in DAMPING, after a refusal
        stopped = f"stopped: DAMPING (damping_controller, switch {number}): Fell to safety: "
        assert (code, text[: len(stopped)]) == (0, stopped)
        assert start.ask("clear-fault") == (0, CLEARED)
        desk = start.hc_anew("heartbeat", "desk")
        assert client.wait(lambda: start.ask("mode", "load")[0] == 0, TIMEOUT)

        code, text = start.ask_anew("stop")
        assert code == 0
        stopped = f"stopped: DAMPING (damping_controller, switch {number + 2}): Fell to safety: "
        assert text.startswith(stopped)
        code, text = start.ask("mode", "load")
        assert (code, "fell to safety: emergency stop (/emergency_stop)" in text) == (1, True)
        assert start.ask("clear-fault") == (0, CLEARED)
        modes.request(Intent.LOAD)

        desk.send(signal.SIGINT)
        assert desk.finish() == 0
        assert client.wait(lambda: modes.latest.mode is Mode.DAMPING, TIMEOUT)
        assert "heartbeat of desk ended (deadline 1 s)" in modes.latest.reason.text
    assert start.ask_anew("down") == (0, DISABLED), up.text  # a fault is no obstacle
    assert up.finish() == 0
    assert "control ended: exit code 0; stopping the others" in up.text


def test_a_stop_whose_output_cannot_be_written_tells_what_the_robot_did(start: Starter) -> None:
    up = start.hc("up", "mock", "--no-viewer", "--no-black-box")
    up.wait_for("Prime is up: ")
    program = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
    for command, result in (
        ("stop", "stopped: DAMPING "),
        ("clear-fault", CLEARED),
        ("down", DISABLED),
    ):
        run = start("sh", "-c", f'"$0" -c "$1" {command} > /dev/full', sys.executable, program)
        assert run.finish() == 0
        assert run.text.startswith(result)
        assert "(the output cannot be written)" in run.text
    assert up.finish() == 0


def test_a_robot_stops_and_powers_down_where_the_shell_can_make_no_log_file(
    start: Starter, tmp_path: Path
) -> None:
    up = start.hc("up", "mock", "--no-viewer", "--no-black-box")
    up.wait_for("Prime is up: ZERO_TORQUE, joint states at ")
    obstacle = tmp_path / "file"
    obstacle.touch()
    start.environment["ROS_LOG_DIR"] = str(obstacle / "log")  # as on a read-only disk
    code, text = start.ask_anew("stop")
    assert (code, text.partition(" (")[0]) == (0, "stopped: DAMPING")
    assert start.ask_anew("down") == (0, DISABLED)
    assert up.finish() == 0


def test_a_heartbeat_may_begin_before_the_robot(start: Starter) -> None:
    desk = start.hc("heartbeat", "desk", "--timeout", "0.5")
    desk.wait_for("heartbeat of desk, every 0.1 s")
    assert "hc: no control process answers on ROS_DOMAIN_ID" in desk.text
    assert "; the heartbeat is sent all the same" in desk.text
    desk.send(signal.SIGINT)
    assert desk.finish() == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("stop", "NOT STOPPED: no subscriber on /emergency_stop within 0.5 s"),
        ("down", "no mode manager answers on ROS_DOMAIN_ID"),
    ],
)
def test_without_a_robot_the_message_names_the_alternative(command: str, message: str) -> None:
    with on_reserved_domain():
        result = CliRunner().invoke(app, [command, "--timeout", "0.5"])
    with pytest.raises(NoAnswerError, match=f"^{message}.* the power"):
        raise result.exception


class EndedError(Exception):
    """Ends a control process."""


@pytest.mark.parametrize("at_once", [False, True])
def test_a_power_down_reports_the_end_of_a_control_process_that_has_not_answered(
    at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of one that has gone `at_once`, before `hc down` looks for it again."""
    with on_reserved_domain() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        node = Node("mode_manager", context=context)
        node.create_publisher(ControlMode, "control_mode", 10)

        def end(_request: object, _response: object) -> NoReturn:
            raise EndedError

        node.create_service(Trigger, "humanoid_control/power_down", end)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)

        def run() -> None:
            with suppress(EndedError):
                executor.spin()
            node.destroy_node()
            context.shutdown()

        process = Thread(target=run)

        def call_and_look_late(caller: Any, request: object) -> object:
            call = call_async(caller, request)
            process.join()
            while caller.service_is_ready():
                pass
            return call

        if at_once:
            call_async = ServiceClient.call_async
            monkeypatch.setattr(ServiceClient, "call_async", call_and_look_late)
        process.start()
        result = CliRunner().invoke(app, ["down"])
        process.join()
    with pytest.raises(NoAnswerError, match=r"has ended without an answer: .* cut the power"):
        raise result.exception


@pytest.mark.parametrize(
    "text", ["desk", "desk:", "desk:0", "Desk:1", "a.b:1", "desk:nan", ":1", "desk:500"]
)
def test_a_heartbeat_that_can_t_be_read_is_refused(text: str) -> None:
    result = CliRunner().invoke(app, ["up", "mock", "--heartbeat", text])
    message = f"heartbeat is '{text}', expected NAME:SECONDS (a_name:0.5), at most 60 s"
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        raise result.exception


def test_a_heartbeat_that_is_given_twice_is_refused() -> None:
    """The longer silence could count although the shorter one was required."""
    twice = ["--heartbeat", "desk:0.5", "--heartbeat", "desk:60"]
    result = CliRunner().invoke(app, ["up", "mock", *twice])
    with pytest.raises(ConfigError, match=r"^heartbeat 'desk' is given twice: 0.5 s, 60 s$"):
        raise result.exception
