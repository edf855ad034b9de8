"""`hc up` with the real processes: start, end and refusals."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from humanoid_control_common.robot.domain_lock import take_domain_lock

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Run, Starter

CONTROL = "/humanoid_controllers/control"
UP = "Prime is up"
URL = "http://localhost:"
DAMPING = ("--initial-mode", "damping")
STOPPED = "stopped: all joints are without torque"


def left_in(folder: Path) -> list[Path]:
    return list(folder.glob("humanoid_control_*/"))


def test_a_dead_control_process_is_named_and_stops_the_viewer(hc) -> None:
    up = hc("up", "mock", "--port", "0")
    up.wait_for(UP)
    up.wait_for(URL)
    os.kill(up.descendant(CONTROL), signal.SIGKILL)
    assert up.finish() == 137
    assert "hc        | control ended: SIGKILL; stopping the others" in up.lines
    assert not up.descendants()


def test_no_process_or_file_survives_a_kill_of_hc_up(hc, tmp_path: Path) -> None:
    up = hc("up", "mock", "--no-viewer")
    up.wait_for(UP)
    assert left_in(tmp_path)
    up.send(signal.SIGKILL)
    up.finish()
    up.wait_until_alone()
    assert not left_in(tmp_path)


@dataclass(frozen=True)
class Interrupted:
    """A bring-up that was interrupted after its complete start, which took `duration` [s]."""

    run: Run
    duration: float
    left: list[Path]


@pytest.fixture(scope="module")
def interrupted(start_once: Starter) -> Interrupted:
    """A robot in MuJoCo, with its viewer."""
    begin = time.monotonic()
    up = start_once.hc_anew("up", "mujoco", "--port", "0", "--rtf", "2", *DAMPING)
    up.wait_for(f"{UP}: DAMPING, joint states at ")
    up.wait_for(URL)
    duration = time.monotonic() - begin
    up.send(signal.SIGINT)
    up.finish()
    return Interrupted(up, duration, list(start_once.temporary_files("humanoid_control_*/")))


def test_interrupt_ends_mujoco_and_viewer_after_a_complete_start(interrupted: Interrupted) -> None:
    up = interrupted.run
    assert up.finish() == 0, up.text
    assert "Traceback" not in up.text
    assert STOPPED in up.lines[-1]
    assert not up.descendants()
    assert not interrupted.left


def test_interrupt_at_any_moment_of_the_start_leaves_no_process(
    hc_anew, interrupts_wait, moments, interrupted: Interrupted, tmp_path: Path
) -> None:
    for moment in moments(4, interrupted.duration):
        with interrupts_wait():
            up = hc_anew("up", "mock", "--port", "0")
        time.sleep(moment)  # no synchronisation: any time is valid
        up.send(signal.SIGINT)
        code = up.finish()
        assert not up.descendants(), up.text
        assert not left_in(tmp_path)
        if "SIGINT: stopping" in up.text:
            assert code == 0, up.text
            assert "Traceback" not in up.text
        else:
            assert "bringing up" not in up.text


def test_beside_a_bring_up_that_has_just_begun_nothing_is_started(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", start.environment["ROS_DOMAIN_ID"])
    with take_domain_lock("bring-up"):  # its control process has not got its own yet
        up = start.hc("up", "mock", "--no-viewer")
        assert up.finish() == 1
    (line,) = up.lines
    assert line.startswith("hc: a bring-up process is already running on ROS domain ")


def test_a_malformed_file_starts_nothing(hc, tmp_path: Path) -> None:
    bad = tmp_path / "controllers.yaml"
    bad.write_text("controller_manager:\n  ros__parameters:\n    update_rate: often\n")
    up = hc("up", "mock", "--controllers", str(bad))
    assert up.finish() == 1
    assert up.text.startswith(f"hc: {bad}:3: ")
    assert "bringing up" not in up.text
    assert not up.descendants()
    assert not left_in(tmp_path)


def test_hc_up_shows_the_configuration_error_of_the_control_process(
    hc, slow_controllers: Path
) -> None:
    text = slow_controllers.read_text()
    slow_controllers.write_text(text.replace("stiffness: 20.0", "stiffness: stiff"))
    up = hc("up", "mock", "--no-viewer", "--controllers", str(slow_controllers))
    assert up.finish() == 1
    assert "hc        | control ended: exit code 1; stopping the others" in up.lines
    assert any(line.startswith("control   | ") and "stiffness" in line for line in up.lines)


def test_a_missing_program_is_named_with_the_remedy(hc_anew, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    marker = prefix / "share/ament_index/resource_index/packages/humanoid_controllers"
    marker.parent.mkdir(parents=True)
    marker.touch()
    up = hc_anew("up", "mock", AMENT_PREFIX_PATH=f"{prefix}:{os.environ['AMENT_PREFIX_PATH']}")
    assert up.finish() == 1
    (line,) = up.lines
    assert line.startswith(f"hc: {prefix}/lib/humanoid_controllers/control: no such executable")
    assert "make build" in line
