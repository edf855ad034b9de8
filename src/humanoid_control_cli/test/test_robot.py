"""The commands for a running robot, with the real control process and mock hardware."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.robot.mode_rows import recorded_mode
from humanoid_control_cli.robot.operator_requests import clear_faults
from humanoid_control_cli.robot.status import collect
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.modes import Intent, Mode

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

UP = "Prime is up"
UNREADY = "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)"
TIMEOUT = 30.0  # [s]; a dead-man's switch


@pytest.fixture(scope="module")
def robot(start_once: Starter, quick_controllers: Path) -> Starter:
    """Prime up; the result starts `hc` for it."""
    up = start_once.hc("up", "mock", "--no-viewer", "--controllers", str(quick_controllers))
    up.wait_for(f"{UP}: ZERO_TORQUE, joint states at ")
    return start_once


@pytest.fixture
def modes(robot: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModeClient]:
    """A client in this process; the robot is in DAMPING without a fault."""
    for name, value in robot.environment.items():
        monkeypatch.setenv(name, value)
    with Client(TIMEOUT) as client:
        modes = ModeClient(client)
        modes.request(Intent.DAMP)
        clear_faults(client)
        yield modes


def test_modes_are_shown_granted_and_refused(robot, modes: ModeClient) -> None:
    number = modes.request(Intent.ZERO_TORQUE).switch_number
    limp = f"ZERO_TORQUE (zero_torque_controller, switch {number})"
    assert robot.ask("mode") == (0, limp)
    assert robot.ask("mode", "load") == (1, f"hc: {UNREADY}")
    assert robot.ask("mode") == (0, f"{limp}: {UNREADY}")
    damping = f"DAMPING (damping_controller, switch {number + 1})"
    assert robot.ask_anew("mode", "damp") == (0, damping)
    assert robot.ask("mode", "damp") == (0, f"already in {damping}")
    assert robot.ask_anew("clear-fault") == (0, "nothing to clear: the robot had not fallen")
    standby = f"STANDBY (standby_controller, switch {number + 2})\nSTANDBY is finished"
    assert robot.ask("mode", "standby", "--wait") == (0, standby)


def test_a_robot_without_heartbeats_refuses_each(robot) -> None:
    code, text = robot.ask("heartbeat", "desk")
    assert (code, text.rpartition("; ")[2]) == (1, "it requires: none")


@pytest.mark.parametrize("words", [("damp", "--wait"), ("remote", "--wait"), ("--wait",)])
def test_a_mode_that_nothing_is_waited_for_in_refuses_to_wait(robot, words) -> None:
    code, text = robot.ask("mode", *words)
    assert code == 2
    assert "Invalid value for '--wait': is for `hc mode standby`" in text


def test_status_shows_the_whole_robot(robot) -> None:
    code, text = robot.ask_anew("status")
    assert code == 0, text
    for line in (
        r"^mode +[A-Z_]+ *$",
        r"^joint states +\d+\.\d Hz, the latest \d+ ms old *$",
        r"^safety PrimeMock +OK",
        r"^period \[ms\] +mean [\d.]+ +p99 [\d.]+ +max [\d.]+",
    ):
        assert re.search(line, text, re.MULTILINE), text
    joints = re.findall(r"^ +(?:left|right)_\w+(?: +[+-]\d+\.\d{3}){3} *$", text, re.MULTILINE)
    assert len(joints) == 14


def test_the_status_has_the_mode_before_all_else_has_come(modes: ModeClient) -> None:
    seen: list[StampedStatement] = []
    found = collect(modes._client, seen.append)
    assert [it.mode for it in seen] == [Mode.DAMPING]
    assert found.complete


def test_first_rows_of_the_status_need_no_answer_from_the_robot(
    robot: Starter, modes: ModeClient
) -> None:
    number = modes.statement().switch_number
    rows = recorded_mode("")
    assert rows is not None
    shown = Console(width=80, file=StringIO(), record=True)
    shown.print(rows)
    mode, controller = (line.split() for line in shown.export_text().splitlines())
    assert mode == ["mode", "DAMPING"]
    assert controller == ["controller", "damping_controller,", "switch", str(number)]
    assert recorded_mode("/elsewhere") is None


def test_a_second_bring_up_on_the_same_domain_is_refused(robot) -> None:
    second = robot.hc("up", "mock", "--no-viewer")
    assert second.finish() == 1
    (line,) = second.lines
    assert line.startswith("hc: a control process is already running on ROS domain ")


def test_a_repeated_refusal_has_the_same_text(modes: ModeClient) -> None:
    for _ in range(2):
        with pytest.raises(RefusedError, match=r"^Rejected START_REMOTE: requires STANDBY"):
            modes.request(Intent.START_REMOTE)


def test_progress_of_an_earlier_standby_does_not_count(modes: ModeClient) -> None:
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))  # it is finished already
    modes.request(Intent.DAMP)
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    assert modes.request(Intent.START_REMOTE).mode is Mode.REMOTE  # only from a finished STANDBY


def test_quit_is_refused_where_it_is_not_allowed(modes: ModeClient) -> None:
    modes.request(Intent.LOAD)
    with pytest.raises(RefusedError, match="requires ZERO_TORQUE or DAMPING"):
        modes.quit(wait=False)


def test_wait_for_standby_ends_when_standby_or_the_robot_ends(
    start, slow_controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in start.environment.items():
        monkeypatch.setenv(name, value)
    up = start.hc("up", "mock", "--no-viewer", "--controllers", str(slow_controllers))
    up.wait_for(UP)
    with Client(TIMEOUT) as client:
        modes = ModeClient(client)
        modes.request(Intent.DAMP)
        standby = modes.request(Intent.LOAD)
        other = start.hc("mode", "damp")
        with pytest.raises(RefusedError, match=r"STANDBY was left unfinished, .* is DAMPING"):
            modes.wait_for_ready_pose(standby)
        assert other.finish() == 0
        standby = modes.request(Intent.LOAD)
        os.kill(up.descendant("lib/humanoid_controllers/control"), signal.SIGTERM)  # not damped
        assert up.finish() == 0
        client.timeout = 0.5
        with pytest.raises(NoAnswerError, match="no control process answers"):
            modes.wait_for_ready_pose(standby)


def test_quit_ends_everything_without_a_failure(start) -> None:
    up = start.hc("up", "mock", "--no-viewer")
    up.wait_for(UP)
    assert start.ask("mode", "quit", "--wait") == (0, "shutting down")
    assert up.finish() == 0
    assert "hc        | control ended: exit code 0; stopping the others" in up.lines
