"""`hc friction record` on the whole robot finds the planted friction, and stops."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from humanoid_control_msgs.srv import UnloadController
from std_msgs.msg import Float64MultiArray
from test_support.controllers import write_controllers
from test_support.stepped.hc_client import SteppedClient
from test_support.stepped.own_remote import ask
from test_support.stepped.prime import Prime
from test_support.stepped.stack import Stack

from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.friction import record as hc_friction
from humanoid_control_cli.friction.session import Robot, Settings, record_joints
from humanoid_control_cli.payload.gravity_client import GravityClient
from humanoid_control_common.errors import RobotError
from humanoid_control_common.rules.modes import Mode
from humanoid_servo_controllers.friction_file import (
    FrictionMaps,
    load_friction_maps,
    save_friction_maps,
)
from humanoid_servo_controllers.friction_recording.breakaway import BreakawayRecording
from humanoid_servo_controllers.friction_recording.controller import CONTROLLER
from humanoid_servo_controllers.friction_recording.maps import friction_map
from humanoid_servo_controllers.friction_recording.recording import (
    FrictionSample,
    Recording,
    RecordingError,
)
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap

WRIST = "left_wrist_roll"
# Both maps have a kink: there the mean over a bin differs from the value at its middle.
FORWARD = [[-0.6, 0.4], [0.05, 0.9], [0.6, 0.3]]  # [rad, Nm]
BACKWARD = [[-0.6, -0.5], [-0.05, -0.8], [0.6, -0.3]]
PLANTED = {"forward": FORWARD, "backward": BACKWARD}
LOWER, UPPER, POINTS = -0.1, 0.1, 2  # [rad]
FIVE = 0.05  # part of the friction
QUICK = 0.04  # [rad/s] twice the default
STILL = 1e-3  # [Nm]

Show = Callable[[str, Recording], None]


def _standing(folder: Path, **more: object) -> Stack:
    file = write_controllers(folder, 1.0)
    stack = Prime(folder, friction={WRIST: PLANTED | more}, controllers_file=file)
    stack.up()
    stack.damped()
    stack.enter(Mode.STANDBY)
    stack.client.until(stack.has_finished_standby, "the ready pose")
    return stack


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime in a finished STANDBY; a wrist has friction."""
    return _standing(tmp_path_factory.mktemp("standing"))


@pytest.fixture(scope="module")
def sticking(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The same robot with less friction in motion than at rest."""
    stribeck = {"coulomb": 0.8, "speed": 0.05}
    return _standing(tmp_path_factory.mktemp("sticking"), stribeck=stribeck)


def recorded(
    stack: Stack,
    settings: Settings,
    show: Show = lambda _joint, _recording: None,
    agree: Callable[[], bool] = lambda: True,
) -> Sequence[FrictionSample]:
    robot = Robot(SteppedClient(stack.robot))
    task = robot.task(WRIST, settings, LOWER, UPPER)
    return dict(record_joints(robot, [task], settings, agree, show))[WRIST]


def means(points: list[list[float]]) -> list[float]:
    """Return the mean of a map over each bin."""
    where, efforts = np.array(points).T
    edges = np.linspace(LOWER, UPPER, POINTS + 1)
    return [
        float(np.interp(np.linspace(low, high, 101), where, efforts).mean())
        for low, high in pairwise(edges)
    ]


def assert_planted(samples: Sequence[FrictionSample], part: float) -> None:
    found = friction_map(samples, LOWER, UPPER, POINTS)
    np.testing.assert_allclose(found.forward.efforts, means(FORWARD), rtol=part)
    np.testing.assert_allclose(found.backward.efforts, means(BACKWARD), rtol=part)


def test_breakaway_finds_the_friction_at_rest_within_five_percent(sticking: Stack) -> None:
    assert_planted(recorded(sticking, Settings("breakaway", passes=3)), FIVE)
    assert sticking.client.now.mode == Mode.DAMPING


def test_a_sweep_finds_the_friction_in_motion_within_two_percent(standing: Stack) -> None:
    assert_planted(recorded(standing, Settings("sweep", speed=QUICK)), 0.02)


def left_alone(stack: Stack) -> bool:
    """Return True if the wrist has no torque, the robot is in DAMPING and the recorder unloaded."""
    stack.pass_time(0.3)
    latest = stack.client.commands[-1]
    row = list(latest.joint_names).index(WRIST)
    request = UnloadController.Request(name=CONTROLLER)
    unloaded = not ask(stack, UnloadController, "/controller_manager/unload", request).success
    damped = stack.client.now.mode == Mode.DAMPING and latest.stiffness[row] == 0.0
    return damped and abs(latest.effort[row]) < STILL and unloaded


def is_pushed(recording: Recording) -> bool:
    return isinstance(recording, BreakawayRecording) and len(recording._ramp) > 10


def is_released(recording: Recording) -> bool:
    return bool(recording.samples) and not is_pushed(recording)


PHASES: dict[str, tuple[Settings, Callable[[Recording], bool]]] = {
    "before the first measurement": (Settings("breakaway"), lambda _: True),
    "while the effort rises": (Settings("breakaway"), is_pushed),
    "while the joint is released": (Settings("breakaway"), is_released),
    "in a sweep": (Settings("sweep"), lambda recording: bool(recording.samples)),
}


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_ends_the_effort_at_once_in_every_phase(standing: Stack, phase: str) -> None:
    settings, reached = PHASES[phase]
    times: list[float] = []

    def show(_: str, recording: Recording) -> None:
        if not times and reached(recording):
            times.append(standing.robot.scheduler.now / 1e9)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        recorded(standing, settings, show)
    assert standing.robot.scheduler.now / 1e9 - times[0] < 1.0
    assert left_alone(standing)


def test_ctrl_c_at_the_question_leaves_the_robot_in_standby(standing: Stack) -> None:
    def agree() -> bool:
        raise KeyboardInterrupt

    before = standing.client.now.switch_number
    with pytest.raises(KeyboardInterrupt):
        recorded(standing, Settings("sweep"), agree=agree)
    standing.pass_time(0.3)
    assert standing.client.now.switch_number == before
    request = UnloadController.Request(name=CONTROLLER)
    assert not ask(standing, UnloadController, "/controller_manager/unload", request).success


def test_friction_recording_without_consent_moves_no_joint(standing: Stack) -> None:
    before = standing.client.now.switch_number
    with pytest.raises(RefusedError, match="nothing has moved"):
        recorded(standing, Settings("sweep"), agree=lambda: False)
    assert standing.client.now.switch_number == before


@pytest.mark.parametrize("method", ["breakaway", "sweep"])
def test_change_of_mode_ends_the_friction_recording(standing: Stack, method) -> None:
    asked: list[int] = []

    def show(_: str, recording: Recording) -> None:
        if not asked and recording.samples:
            asked.append(standing.client.now.switch_number)
            standing.client.request_unseen(Mode.DAMPING)

    with pytest.raises(RefusedError, match="the recording is aborted"):
        recorded(standing, Settings(method), show)
    assert standing.client.now.switch_number == asked[0] + 1
    assert left_alone(standing)


def once(act: Callable[[], object]) -> Show:
    """Act once, after the first sample."""
    done: list[bool] = []

    def show(_: str, recording: Recording) -> None:
        if not done and recording.samples:
            done.append(True)
            act()

    return show


@pytest.mark.parametrize("method", ["breakaway", "sweep"])
def test_blocked_joint_ends_the_friction_recording(standing: Stack, method) -> None:
    """The joint does not move, or needs more effort than allowed."""
    plant = standing.robot.virtual.plant
    row = standing.joints.index(WRIST)
    block = once(lambda: plant.set_brake(row, engaged=True))
    with pytest.raises(RecordingError, match="a stop or an obstacle is there"):
        recorded(standing, Settings(method, max_effort=1.5), block)
    plant.set_brake(row, engaged=False)
    assert left_alone(standing)


@pytest.mark.parametrize("method", ["breakaway", "sweep"])
@pytest.mark.parametrize("torque", [-2.5, 2.5])
def test_pushed_joint_ends_the_friction_recording(standing: Stack, method, torque: float) -> None:
    """The joint is at its limit, too fast, driven the other way, or needs too much effort."""
    act = once(lambda: standing.push(torque, WRIST))
    with pytest.raises(RobotError):
        recorded(standing, Settings(method, max_effort=1.5), act)
    standing.push(0.0, WRIST)
    assert left_alone(standing)


@pytest.fixture
def hc(standing: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """Let `hc friction` use this robot."""
    monkeypatch.setattr(hc_friction, "Client", lambda _timeout: SteppedClient(standing.robot))
    return standing


def into_standby(stack: Stack) -> None:
    stack.enter(Mode.STANDBY)
    stack.client.finish_standby()


def checked(file: Path, bound: float) -> int:
    def settings(method: str) -> Settings:
        return Settings("sweep" if method == "sweep" else "breakaway", speed=QUICK)

    return hc_friction.check(file, (), bound, settings, True, 10.0)


def test_friction_check_confirms_the_recorded_map_and_detects_a_changed_one(
    hc: Stack, tmp_path: Path, capsys
) -> None:
    """`check` measures in the bins of the file, and judges by the bound."""
    file = tmp_path / "friction.yaml"
    ends, sweep = (-0.03, 0.03), Settings("sweep", speed=QUICK)
    assert hc_friction.record((WRIST,), file, ends, 2, sweep, True, 10.0) == 0
    assert load_friction_maps(file).maps.keys() == {WRIST}
    into_standby(hc)
    assert checked(file, 0.05) == 0
    assert "within the bound" in capsys.readouterr().out
    content = yaml.safe_load(file.read_text())
    for point in content["joints"][WRIST]["forward"]:
        point[1] *= 1.1  # [Nm]
    file.write_text(yaml.safe_dump(content))
    into_standby(hc)
    assert checked(file, 0.05) == 1
    assert "NOT within the bound" in capsys.readouterr().out


def test_joints_before_a_failed_one_are_written(hc: Stack, tmp_path: Path) -> None:
    file, other = tmp_path / "friction.yaml", "right_wrist_roll"
    plant, row = hc.robot.virtual.plant, hc.joints.index(other)
    plant.set_brake(row, engaged=True)
    sweep = Settings("sweep", speed=QUICK, max_effort=1.5)
    with pytest.raises(RecordingError, match="a stop or an obstacle is there"):
        hc_friction.record((WRIST, other), file, (-0.03, 0.03), 2, sweep, True, 10.0)
    plant.set_brake(row, engaged=False)
    assert load_friction_maps(file).maps.keys() == {WRIST}
    joints = {line.partition(",")[0] for line in file.with_suffix(".csv").read_text().splitlines()}
    assert joints == {"joint", WRIST}
    into_standby(hc)


def test_joint_with_too_few_samples_leaves_no_file_that_refuses_the_next_try(
    hc: Stack, tmp_path: Path
) -> None:
    file, ends, sweep = tmp_path / "friction.yaml", (-0.03, 0.03), Settings("sweep", speed=QUICK)
    with pytest.raises(RecordingError, match=f"{WRIST}: [0-9]+ samples forwards, expected 3"):
        hc_friction.record((WRIST,), file, ends, 200, sweep, True, 10.0)
    assert not list(tmp_path.iterdir())
    assert left_alone(hc)
    into_standby(hc)


def test_ctrl_c_ends_a_check(hc: Stack, tmp_path: Path, capsys) -> None:
    file = tmp_path / "friction.yaml"
    curves = (
        FrictionCurve(np.array([-0.1, 0.1]), sign * np.array([0.8, 0.8]), sign) for sign in (1, -1)
    )
    found = {WRIST: FrictionMap(*curves)}
    save_friction_maps(file, FrictionMaps(date(2026, 11, 24), "breakaway", found))
    heard: list[object] = []

    def count(message: object) -> None:
        heard.append(message)
        if len(heard) == 150:
            os.kill(os.getpid(), signal.SIGINT)

    hc.client.listen(Float64MultiArray, f"/{CONTROLLER}/commands", count)
    assert checked(file, 0.15) == hc_friction.INTERRUPTED
    assert "hc: aborted" in capsys.readouterr().err
    assert left_alone(hc)


def test_the_weight_of_a_chain_with_mocked_joints_is_not_identified(tmp_path: Path) -> None:
    """The real arm may hang anywhere: the gravity of the mocked pose would be invented."""
    stack = Stack(tmp_path, backends="can", controllers_file=write_controllers(tmp_path, 1.0))
    stack.up()
    stack.damped()
    stack.enter(Mode.STANDBY)
    client = SteppedClient(stack.robot)
    for refused in (
        lambda: Robot(client).task(WRIST, Settings("breakaway"), LOWER, UPPER),
        lambda: GravityClient(client).model("left_hand_link"),
    ):
        with pytest.raises(RefusedError, match="left_elbow_pitch") as error:
            refused()
        assert "right_elbow_pitch" not in str(error.value)
