"""LOCOMOTION: actions that must not be followed raise in the same tick, with a reason code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.machine.linux import LINUX
from humanoid_controllers.policy.live_inputs import ImuSample, VelocityCommand
from humanoid_policy.errors import PolicyFailedError

MOTION = {"joints": ["elbow"], "times": [0.6], "positions": [0.3]}
MakeBench = Callable[..., Any]


def refused(robot: Any, ticks: int = 1, *, infers: bool = True) -> tuple[str, str]:
    """Return code and text of the error that the last of `ticks` raises."""
    robot.tick(ticks - 1, infers=infers)
    with pytest.raises(PolicyFailedError) as error:
        robot.tick()
    (code,) = error.value.reason.codes
    return code, str(error.value)


def test_a_late_action_ends_the_policy(bench: MakeBench) -> None:
    robot = bench(0.0)
    robot.tick(9)  # inference in ticks 0, 4 and 8
    assert refused(robot, 8, infers=False) == ("POLICY_LATE", "no action within 0.04 s")


def test_an_action_is_late_a_policy_period_after_the_question_and_no_earlier(
    bench: MakeBench,
) -> None:
    """A tick that was held up before it asks is followed at once by the next one."""
    robot = bench([1.0, 0.0], policy_period="0.01")
    time = {"held up": 0.009}  # [s]
    robot.controller.inference.clock = lambda: robot.now + time["held up"]
    robot.tick(infers=False)
    time["held up"] = 0.0
    robot.tick()
    assert robot.command.position[1] == pytest.approx(-0.5), "1 ms after the question"
    robot.tick()
    assert robot.command.position[1] > -0.5, "the action acts"
    robot.tick(infers=False)
    assert refused(robot) == ("POLICY_LATE", "no action within 0.01 s")


def test_the_first_action_may_not_be_late_either(bench: MakeBench) -> None:
    assert refused(bench(0.0), 5, infers=False)[0] == "POLICY_LATE"


def test_an_inference_without_an_end_costs_the_mode_and_ends_with_it(bench: MakeBench) -> None:
    robot = bench(0.0, endless_for=0.5)
    robot.tick(9)
    inference = robot.controller.inference
    inference.start(LINUX)
    inference.clock = None
    robot.state.position[1] = 1.0
    assert refused(robot, 8, infers=False)[0] == "POLICY_LATE"
    robot.controller.on_deactivate()
    while (answer := inference.answer(3 + 1)) is None:
        pass
    assert answer.action is None
    robot.controller.on_cleanup()


def test_an_action_of_an_earlier_activation_is_not_used(bench: MakeBench) -> None:
    robot = bench([1.0, 0.0])
    robot.tick(3, infers=False)
    robot.controller.on_deactivate()
    robot.activate()
    robot.controller.inference.step()
    assert refused(robot, 5, infers=False)[0] == "POLICY_LATE"


def test_an_action_that_is_not_finite_ends_the_policy(bench: MakeBench) -> None:
    robot = bench(0.0, invalid_for=0.01)
    robot.tick(9)
    robot.state.position[1] = 0.5
    robot.tick(7)
    text = "elbow: action nan, expected a finite number"
    assert refused(robot) == ("POLICY_NOT_FINITE", text)


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        ([5.1, 0.0], "elbow: position 2.05 rad, allowed -2 to 2 rad"),
        ([0.0, -4.1], "wrist: position -2.05 rad, allowed -2 to 2 rad"),
        ([1e30, 0.0], "elbow: position 5e+29 rad, allowed -2 to 2 rad"),
    ],
)
def test_a_position_beyond_the_limits_ends_the_policy(
    bench: MakeBench, bias: list[float], words: str
) -> None:
    assert refused(bench(bias), 5) == ("POLICY_OUT_OF_LIMITS", words)


def test_an_effort_beyond_the_limits_ends_the_policy(bench: MakeBench) -> None:
    robot = bench([0.0, 20.1], action_kind="torques")
    text = "wrist: effort 10.05 Nm, allowed -10 to 10 Nm"
    assert refused(robot, 5) == ("POLICY_OUT_OF_LIMITS", text)


def test_a_target_at_the_limit_is_followed(bench: MakeBench) -> None:
    assert bench([5.0, -4.0]).tick(200).position == pytest.approx([0.1, 2.0, -2.0])


def test_an_inference_that_fails_ends_the_policy(bench: MakeBench) -> None:
    robot = bench(0.0)

    def fail(inputs: object) -> None:
        raise RuntimeError("no memory")

    robot.controller.inference.compute = fail
    code, text = refused(robot, 5)
    assert (code, text) == ("POLICY_INFERENCE_FAILED", "inference failed: no memory")


def test_a_silent_imu_ends_the_policy(configured: MakeBench) -> None:
    robot = configured(0.0, observation_names="base_ang_vel,projected_gravity")
    sample = ImuSample(np.zeros(3), np.array([0.0, 0.0, -1.0]), robot.now)
    robot.controller.live.imu.put(sample)
    robot.activate()
    robot.tick(8)
    code, text = refused(robot, 5)
    assert code == "POLICY_WITHOUT_INPUT"
    assert text == "no valid message of the IMU for 0.1 s: topic imu/data"


def test_without_an_imu_the_policy_is_not_started(configured: MakeBench) -> None:
    robot = configured(0.0, observation_names="projected_gravity")
    with pytest.raises(PolicyFailedError, match=r"no valid message of the IMU for 0\.1 s"):
        robot.activate()


def test_a_stale_velocity_command_is_none(bench: MakeBench) -> None:
    weights = np.zeros((3, 2))
    weights[2, 0] = 1.0  # the action of the elbow is wz
    robot = bench(weights=weights, observation_names="velocity_commands")
    robot.controller.live.velocity.put(VelocityCommand(np.array([0.0, 0.0, 0.4]), robot.now))
    assert robot.tick(50).position[1] == pytest.approx(-0.3)
    assert robot.tick(40).position[1] == pytest.approx(-0.5)


def test_a_motion_that_begins_elsewhere_is_not_started(configured: MakeBench) -> None:
    robot = configured(0.0, motion=MOTION)
    robot.state.position[1] = -0.1
    with pytest.raises(ControllerError) as error:
        robot.activate()
    assert str(error.value).startswith(
        "elbow is at -0.1 rad, but the motion begins at -0.5 rad, expected within 0.3 rad: "
        "begin the motion where STANDBY ends"
    )
    robot.state.position[1] = -0.3
    robot.activate()


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"joint_names": "wrist,shoulder,knee", "action_joint_names": "knee"},
         "joint_names of the model: unknown: knee; missing: elbow; the controller has shoulder"),
        ({"policy_period": "0.035"}, "found 0.035 s, which is 3.5 ticks at 100 Hz, expected a wh"),
        ({"policy_period": "0.004"}, "found 0.004 s, which is 0.4 ticks at 100 Hz"),
        ({"default_joint_pos": "0,0,2.1"}, "elbow (index 2): found 2.1 rad, allowed -2 to 2 rad"),
        ({"observation_names": "phase,joint_pos,reference_joint_pos"},
         "motion: is missing; the model needs it for phase, reference_joint_pos"),
        ({"action_kind": "residuals"}, "the model needs it for action_kind residuals"),
        ({"motion": {"joints": ["knee"], "times": [1.0], "positions": [0.0]}},
         "motion: unknown joint knee"),
        ({"motion": {"joints": ["elbow"], "times": [1.0], "positions": [2.5]}},
         "motion: point 0 (at 1 s), elbow: position 2.5 rad on the way to it, allowed -2 to 2"),
        ({"motion": {"joints": ["elbow"], "times": [0.1], "positions": [0.5]}},
         "motion: point 0 (at 0.1 s), elbow: velocity"),
        ({"motion": {"joints": ["elbow"], "times": [0.0, 2.0], "positions": [2.5, 0.0]}},
         "motion: elbow: begins at 2.5 rad, allowed -2 to 2 rad"),
    ],
)  # fmt: skip
def test_a_policy_that_does_not_fit_is_refused(
    configured: MakeBench, properties: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError) as error:
        configured(0.0, **properties)
    assert words in str(error.value)
    assert "policy.onnx: " in str(error.value)


def test_torques_need_joints_with_effort(configured: MakeBench, arms_per_mode: np.ndarray) -> None:
    with pytest.raises(ConfigError, match="torques, but no effort acts on elbow: give these"):
        configured(0.0, action_kind="torques", capabilities=arms_per_mode)


def test_a_controller_that_is_cleaned_up_ends_its_inference(configured: MakeBench) -> None:
    controller = configured(0.0).controller
    thread = LINUX.start("policy", lambda: controller.inference.run(LINUX))
    controller.on_cleanup()
    thread.join()
    assert not thread.is_alive()
