"""`hc mode teach` and `hc payload`, with the real control process in MuJoCo."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_support.terminal import Terminal

from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.rules.modes import Intent

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

HAND = "left_hand_link"
EXAMPLE = Path(__file__).parents[3] / "docs/examples/trajectory.yaml"
HC = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def robot(start_once: Starter, quick_controllers: Path) -> Starter:
    start_once.bring_up("mujoco", quick_controllers)
    return start_once


def test_teach_needs_a_standby_and_takes_over_remote(robot: Starter, modes: ModeClient) -> None:
    modes.request(Intent.DAMP)
    code, text = robot.ask("mode", "teach")
    assert code == 1
    assert "expected STANDBY: hc mode damp, hc mode standby --wait, then hc mode teach" in text
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    code, text = robot.ask("mode", "teach")
    assert code == 0, text
    assert text.startswith("REMOTE (teach_controller, ")
    assert robot.ask("mode", "teach") == (0, text)  # it is in force already


def test_a_payload_is_set_shown_and_taken_away(robot: Starter) -> None:
    assert robot.ask("payload") == (0, "no payload")
    shown = f"{HAND}: 0.500 kg at (0.000, 0.000, -0.050) m"
    assert robot.ask_anew("payload", "set", HAND, "0.5", "--at", "0", "0", "-0.05") == (0, shown)
    assert robot.ask("payload") == (0, shown)
    assert robot.ask("payload", "set", HAND, "0")[0] == 0
    assert robot.ask("payload") == (0, "no payload")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("left_foot", "1"), "no link 'left_foot' moves"),
        ((HAND, "99"), "99 kg, expected at most 3"),
    ],
)
def test_an_invalid_payload_is_refused(robot: Starter, words, text: str) -> None:
    code, answer = robot.ask("payload", "set", *words)
    assert code == 1
    assert text in answer


def test_a_payload_is_not_identified_in_a_soft_mode(robot: Starter, modes: ModeClient) -> None:
    modes.request(Intent.DAMP)
    code, text = robot.ask("payload", "identify", HAND)
    assert code == 1
    assert "the joints must be stiff: hc mode standby --wait" in text


def test_a_pose_is_not_measured_in_a_soft_mode_that_began_at_the_prompt(
    robot: Starter, modes: ModeClient
) -> None:
    """The joints rest: nothing but the mode tells that they do not hold their load."""
    modes.request(Intent.DAMP)
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    words = [sys.executable, "-c", HC, "payload", "identify", HAND, "--timeout", "60"]
    terminal = Terminal(words, os.environ | robot.environment)
    terminal.wait_for(lambda text: "then press Enter" in text)
    modes.request(Intent.DAMP)
    terminal.press("\r")
    assert terminal.finish() == 1, terminal.text
    assert "hc: in force is DAMPING (damping_controller, switch " in terminal.text
    assert "pose 2 of 2" not in terminal.text


def test_an_unknown_link_is_refused_before_a_pose_is_measured(robot: Starter) -> None:
    code, text = robot.ask("payload", "identify", "left_foot")
    assert code == 1
    assert text.startswith("hc: payload: no link 'left_foot' moves; known: ")


def test_an_empty_hand_is_identified_as_empty(robot: Starter, modes: ModeClient) -> None:
    modes.request(Intent.DAMP)
    assert robot.ask("load", str(EXAMPLE))[0] == 0
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    modes.request(Intent.START_REMOTE)
    words = [sys.executable, "-c", HC, "payload", "identify", HAND, "--apply"]
    terminal = Terminal(words, os.environ | robot.environment)
    terminal.wait_for(lambda text: "then press Enter" in text)
    moved = ("left_shoulder_pitch=-0.9", "left_elbow_pitch=-0.5", "--time", "2")
    assert robot.ask("move", *moved)[0] == 0
    terminal.press("\r")
    assert terminal.finish() == 0, terminal.text
    (mass,) = re.findall(rf"set: {HAND}: ([0-9.]+) kg", terminal.text)
    assert float(mass) < 0.05
    assert "doubtful" not in terminal.text
