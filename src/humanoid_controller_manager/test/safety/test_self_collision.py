"""Targets keep the minimum distance of links, for every sequence of commands."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.safety.limit_stage import Limited, LimitStage
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage
from humanoid_motion.collision.clearance import Clearance, LinkPair
from humanoid_motion.collision.collision_model import CollisionModel
from src.humanoid_motion.test.collision.conftest import NARROW, fingers, three_fingers, tips_apart

__all__ = ["fingers", "three_fingers"]  # fixtures

DISTANCE, PERIOD = 0.02, 0.01  # [m], [s]
APART, TOUCHING = np.zeros(2), np.array([0.6, -0.6])
SPEED = 3.0  # [rad/s]
LIMITS = JointLimits(
    lower=np.full(2, -1.5),
    upper=np.full(2, 1.5),
    velocity=np.full(2, SPEED),
    effort=np.full(2, 8.0),
)


class Bench:
    """The limit stage with a robot that follows its targets exactly."""

    def __init__(self, urdf: str) -> None:
        self.model = CollisionModel(urdf, ("left", "right"))
        self.collision = SelfCollisionStage(self.model, DISTANCE)
        self.stage = LimitStage(LIMITS, self.collision)
        self.state, self.command = JointState(2), JointCommand(2)
        self.state.array.fill(0.0)
        self.command.stiffness[:] = 20.0

    def tick(self, target: np.ndarray) -> float:
        """Command `target` [rad]; return the distance of the tips at the limited target [m]."""
        self.command.position[:] = target
        self.stage.apply(self.state, self.command, PERIOD)
        self.state.position[:] = np.where(
            self.command.stiffness > 0.0, self.command.position, self.state.position
        )
        return float(tips_apart(self.state.position))

    @property
    def limited(self) -> list[int]:
        return self.stage.counts[Limited.SELF_COLLISION].tolist()


@pytest.fixture
def bench(fingers: str) -> Bench:
    return Bench(fingers)


def test_free_motion_is_not_touched(bench: Bench) -> None:
    bench.state.position[:] = -1.0, 1.0
    for _ in range(20):
        bench.tick(np.array([-0.8, 0.8]))
    np.testing.assert_array_equal(bench.command.position, [-0.8, 0.8])
    assert bench.limited == [0, 0]


def test_a_pose_that_is_held_is_not_measured_again_although_the_joints_sag(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, measured = bench.model.clearance, []

    def counted(position: np.ndarray) -> Clearance:
        measured.append(position)
        return measure(position)

    monkeypatch.setattr(bench.model, "clearance", counted)
    bench.state.position[:] = -0.25, 0.25
    for tick in range(60):
        if tick == 50:  # the target is reached
            np.testing.assert_array_equal(bench.command.position, [0.1, -0.1])
            measured.clear()
        bench.command.position[:] = 0.1, -0.1
        bench.stage.apply(bench.state, bench.command, PERIOD)
    assert measured == []


def test_links_that_approach_slowly_stop_at_their_distance(bench: Bench) -> None:
    """In no single tick is the step so long that it asks for a look."""
    apart = [bench.tick(part * TOUCHING) for part in np.linspace(0.0, 1.0, 600)]
    assert min(apart) > DISTANCE - 1e-5
    assert apart[-1] == pytest.approx(DISTANCE, abs=1e-3)


def test_a_velocity_is_judged_from_where_the_joints_are(bench: Bench) -> None:
    slow = 0.3 * np.sign(TOUCHING)  # [rad/s]
    bench.tick(APART)
    assert bench.collision.allowed_velocity(bench.state, slow) == 1.0
    bench.state.position[:] = 0.7 * TOUCHING
    assert bench.collision.allowed_velocity(bench.state, slow) < 1.0


def test_links_slow_down_and_stop_at_their_distance(bench: Bench) -> None:
    apart = [bench.tick(TOUCHING) for _ in range(200)]
    assert min(apart) > DISTANCE - 1e-5
    assert apart[-1] == pytest.approx(DISTANCE, abs=1e-3)
    room = np.array(apart) - DISTANCE
    near = room[:-1] < 0.05
    assert np.all(room[1:][near] > room[:-1][near] * (1 - 5.0 * PERIOD) - 1e-5)
    assert min(bench.limited) > 0


def test_commanded_velocity_is_slowed_like_the_target(bench: Bench) -> None:
    for _ in range(200):
        bench.command.velocity[:] = 1.0, -1.0
        bench.tick(TOUCHING)
    np.testing.assert_allclose(bench.command.velocity, 0.0, atol=5e-2)


def test_velocity_alone_drives_links_no_nearer_and_does_not_come_and_go(bench: Bench) -> None:
    """A joint that has the commanded velocity at once, with a target that stays behind."""
    bench.tick(APART)
    speeds = []
    for _ in range(300):
        bench.command.velocity[:] = SPEED, -SPEED
        bench.command.position[:] = APART
        bench.stage.apply(bench.state, bench.command, PERIOD)
        bench.state.velocity[:] = bench.command.velocity
        bench.state.position += PERIOD * bench.command.velocity
        speeds.append(bench.command.velocity[0])
    assert tips_apart(bench.state.position) > DISTANCE
    assert np.all(np.diff(speeds) < 0.1)  # it decreases, and never rises again
    assert len(set(speeds)) > 15  # in many small steps


def test_of_several_controllers_only_those_that_lead_nearer_are_slowed_down(bench: Bench) -> None:
    """The other finger moves away."""
    for _ in range(300):
        bench.tick(TOUCHING)
    here = bench.state.position.copy()
    apart = here + np.array([0.02, 0.01])  # left moves nearer, right away: in sum nearer
    assert tips_apart(apart) < tips_apart(here)
    bench.command.position[:] = apart
    bench.stage.apply(bench.state, bench.command, PERIOD, [np.array([0]), np.array([1])])
    assert bench.command.position[1] == pytest.approx(apart[1], abs=1e-9)
    assert here[0] < bench.command.position[0] < apart[0] - 1e-3
    assert tips_apart(bench.command.position) > DISTANCE - 1e-5


def test_links_that_are_too_near_may_only_move_apart(bench: Bench) -> None:
    bench.state.position[:] = 0.49, -0.49
    before = tips_apart(bench.state.position)
    assert before < DISTANCE
    assert bench.tick(TOUCHING) == pytest.approx(before, abs=1e-5)
    assert bench.tick(APART) > before
    np.testing.assert_allclose(np.abs(bench.state.position), 0.49 - SPEED * PERIOD, atol=1e-4)


def test_links_that_are_too_near_let_no_others_come_as_near(three_fingers: str) -> None:
    """Right and third nearly touch; left comes from the other side."""
    model = CollisionModel(three_fingers, ("left", "right", "third"))
    limit = np.full(3, 1.5)
    limits = JointLimits(-limit, limit, np.full(3, SPEED), np.full(3, 8.0))
    stage = LimitStage(limits, SelfCollisionStage(model, DISTANCE))
    state, command = JointState(3), JointCommand(3)
    state.array.fill(0.0)
    state.position[:] = NARROW
    near, others = LinkPair.of("right_link", "third_link"), LinkPair.of("left_link", "right_link")
    least = model.pairs(state.position)[near]
    assert least < DISTANCE / 2
    command.stiffness[:] = 20.0
    for _ in range(300):
        command.position[:] = 0.6, *NARROW[1:]
        stage.apply(state, command, PERIOD)
        state.position[:] = command.position
        apart = model.pairs(state.position)
        assert apart[near] > least - 1e-6
        assert apart.get(others, 1.0) > DISTANCE - 1e-5
    assert apart[others] < DISTANCE + 1e-3


def test_motion_that_leads_too_near_brings_its_target_back_to_the_joint(bench: Bench) -> None:
    here = np.array([0.4, -0.4])
    bench.state.position[:] = here
    bench.tick(here * 1.02)
    bench.state.position[:] = here
    bench.state.velocity[:] = 2.0, -2.0  # 0.4 rad in 0.2 s: beyond each other
    bench.tick(here * 1.1)
    np.testing.assert_allclose(bench.command.position, here)


def test_target_that_holds_a_sinking_joint_back_stays(bench: Bench) -> None:
    """A following target would sink with the joint."""
    bench.tick(APART)
    bench.state.position[:], bench.state.velocity[:] = (0.3, -0.3), (2.0, -2.0)
    for _ in range(3):
        bench.command.position[:] = APART
        bench.stage.apply(bench.state, bench.command, PERIOD)
        np.testing.assert_allclose(bench.command.position, APART)
    bench.command.position[:] = 0.02, -0.02  # a step nearer
    bench.stage.apply(bench.state, bench.command, PERIOD)
    np.testing.assert_allclose(bench.command.position, APART)


def test_random_targets_never_bring_links_too_near(bench: Bench) -> None:
    random = np.random.default_rng(5)
    apart = []
    for _ in range(300):
        target = random.uniform(-1.5, 1.5, 2)
        apart += [bench.tick(target) for _ in range(int(random.integers(1, 40)))]
    assert min(apart) > DISTANCE - 1e-5
    assert np.mean(np.array(apart) < DISTANCE + 0.01) > 0.05  # this state was reached


def test_soft_joint_counts_where_it_is(bench: Bench) -> None:
    bench.command.stiffness[:] = 20.0, 0.0
    bench.state.position[:] = 0.0, -0.5
    for _ in range(100):
        assert bench.tick(np.array([1.0, 1.0])) > DISTANCE - 1e-5
    assert bench.state.position[1] == -0.5
    assert bench.limited[0] > 0
    assert bench.limited[1] == 0


def test_no_target_stays_beyond_the_effort_of_a_joint_that_was_pushed(bench: Bench) -> None:
    bench.state.position[:] = 0.45, -0.45
    for _ in range(20):
        bench.tick(TOUCHING)
    bench.state.position[:] = -0.4, 0.4  # pushed apart by hand
    bench.command.position[:] = TOUCHING
    bench.stage.apply(bench.state, bench.command, PERIOD)
    spring = bench.command.stiffness * (bench.command.position - bench.state.position)
    assert np.all(np.abs(spring) <= LIMITS.effort + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_whole_effort_stays_within_its_limit_where_links_are_kept_apart(
    bench: Bench, seed: int
) -> None:
    """Before the velocity was removed, the parts of the torque may have had opposite signs."""
    random, limit, slowed = np.random.default_rng(seed), LIMITS.effort + 1e-6, 0
    for _ in range(3000):
        command, state = bench.command, bench.state
        command.array[:3] = random.uniform(-1, 1, (3, 2)) * np.array([[0.7], [3.0], [20.0]])
        command.position += TOUCHING
        command.array[3:] = np.array([[60.0], [6.0]])
        state.velocity[:] = random.uniform(-1.0, 1.0, 2)
        before = sum(bench.limited)
        bench.stage.apply(state, command, PERIOD)
        away = command.position - state.position
        driving = 60.0 * away + 6.0 * command.velocity + command.effort
        braking = -6.0 * state.velocity
        assert np.all(driving <= np.maximum(limit - braking, 1e-6))
        assert np.all(driving >= np.minimum(-limit - braking, -1e-6))
        slowed += sum(bench.limited) > before
        state.position += np.clip(away, -0.02, 0.02)
    assert slowed > 30


@pytest.mark.parametrize("field", ["position", "velocity"])
def test_joint_without_measurement_makes_no_target_invalid(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    bench.tick(APART)
    monkeypatch.setattr(bench.model, "clearance", lambda position: pytest.fail("looked"))
    getattr(bench.state, field)[0] = np.nan
    bench.command.position[:] = TOUCHING / 10
    bench.stage.apply(bench.state, bench.command, PERIOD)
    assert np.isfinite(bench.command.position[1])
    assert bench.limited == [0, 0]


def test_robot_at_rest_needs_no_check_of_its_shapes(bench: Bench, monkeypatch) -> None:
    bench.tick(APART)
    monkeypatch.setattr(bench.model, "clearance", lambda position: pytest.fail("looked"))
    for _ in range(5):
        bench.tick(APART)


def test_the_target_of_a_drive_that_follows_its_joint_stops_no_other_joint(bench: Bench) -> None:
    bench.stage.set_realized_stiffness(np.array([np.nan, 20.0]))
    bench.command.stiffness[1] = 0.0  # the drive's target follows the joint then
    for _ in range(60):
        apart = bench.tick(np.array([0.6, -0.6]))
    assert bench.state.position.tolist() == [pytest.approx(0.6), 0.0]
    assert apart > DISTANCE
    assert bench.limited == [0, 0]


def test_a_joint_keeps_apart_from_one_that_its_drive_follows(bench: Bench) -> None:
    bench.stage.set_realized_stiffness(np.array([np.nan, 20.0]))
    bench.state.position[1] = -0.6
    bench.command.stiffness[1] = 0.0
    apart = [bench.tick(np.array([0.6, 1.0])) for _ in range(100)]
    assert min(apart) > DISTANCE - 1e-5
