"""Gravity is compensated within the limits of the joints, without a step, until the mode ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState, mit_torque
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import Reason
from humanoid_controller_manager.loop.mode_controllers import ClaimedJoints, ControllerSlot
from humanoid_controller_manager.loop.snapshot import Phase
from humanoid_controller_manager.reason_codes import CONTROLLER_FAILED
from humanoid_controller_manager.safety.gravity_compensation import (
    RISE,
    GravityCompensation,
    Joints,
)
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload import Payload
from src.humanoid_controller_manager.test.conftest import (
    PERIOD,
    STIFF_NEEDS,
    ConfirmingHardware,
    Rig,
    ScriptedController,
    ScriptedHardware,
)
from src.humanoid_motion.test.dynamics.conftest import JOINTS, arm

__all__ = ["arm"]  # a fixture

STIFFNESS, EFFICIENCY, EFFORT = 20.0, 0.7, 30.0
LEVEL = np.array([0.5, 1.0])
LOWEST, HIGHEST = -1.6, 1.7
BOTH = np.array([True, True])
LIMITS = JointLimits(
    np.full(2, LOWEST), np.full(2, HIGHEST), np.full(2, 3.0), np.array([EFFORT, EFFORT])
)


class Bench:
    """The shoulder takes no effort command, the elbow does; both are at LEVEL."""

    def __init__(
        self, urdf: str, largest_bias: float = 2.0, bears_weight: np.ndarray = BOTH
    ) -> None:
        self.model = GravityModel(urdf, JOINTS)
        self.stage = GravityCompensation(
            self.model,
            LIMITS,
            Joints(np.array([False, True]), np.array([EFFICIENCY, 1.0]), bears_weight),
            largest_bias=largest_bias,
            largest_payload=5.0,
        )
        self.state, self.command = JointState(2), JointCommand(2)
        self.state.array.fill(0.0)
        self.state.position[:] = LEVEL
        self.command.position[:] = LEVEL
        self.command.stiffness[:] = STIFFNESS
        self.command.damping[:] = 2.0
        self.effort_limit = np.full(2, EFFORT)

    def tick(self, count: int = 1, wanted: np.ndarray = BOTH) -> JointCommand:
        for _ in range(count):
            written = self.stage.apply(
                self.state, self.command, wanted, self.command.stiffness, self.effort_limit, PERIOD
            )
        return written

    def settled(self) -> JointCommand:
        return self.tick(math.ceil(RISE / PERIOD))


@pytest.fixture
def bench(arm: str) -> Bench:
    return Bench(arm)


def test_effort_is_added_where_it_acts_and_a_bias_elsewhere(bench: Bench) -> None:
    torque, written = bench.model.torque(LEVEL), bench.settled()
    bias = torque[0] / (STIFFNESS * EFFICIENCY)
    assert written.position == pytest.approx([LEVEL[0] + bias, LEVEL[1]])
    assert written.effort == pytest.approx([0.0, torque[1]])
    np.testing.assert_array_equal(written.array[[1, 3, 4]], bench.command.array[[1, 3, 4]])
    assert bench.stage.added == pytest.approx(np.array([[bias, 0.0], torque]))
    assert not bench.stage.limited.any()


def test_a_command_without_compensation_is_not_touched(bench: Bench) -> None:
    assert bench.tick(wanted=~BOTH) is bench.command


def test_the_controllers_own_command_stays_as_it_is(bench: Bench) -> None:
    before = bench.command.array.copy()
    bench.settled()
    np.testing.assert_array_equal(bench.command.array, before)


def test_compensation_never_steps(bench: Bench) -> None:
    added = []
    for payload, wanted in ((0.0, BOTH), (4.0, BOTH), (0.0, BOTH), (0.0, ~BOTH)):
        bench.stage.carry(Payload("lower", payload))
        for _ in range(120):
            bench.tick(wanted=wanted)
            added.append(bench.stage.added[1].copy())
    steps = np.abs(np.diff(added, axis=0))
    assert steps.max() == pytest.approx(EFFORT * PERIOD / RISE)
    assert not added[-1].any()


def test_compensation_ends_only_for_the_joint_that_needs_none(bench: Bench) -> None:
    bench.settled()
    written = bench.tick(100, np.array([False, True]))
    assert written.position[0] == LEVEL[0]
    assert written.effort[1] == pytest.approx(bench.model.torque(LEVEL)[1])


def test_a_chain_with_a_mocked_joint_is_left_alone(arm: str) -> None:
    """The weight of the elbow depends on an angle of the shoulder that nobody measures."""
    bench = Bench(arm, bears_weight=np.array([False, True]))
    written = bench.settled()
    assert written.position[0] == LEVEL[0]
    assert written.effort[1] == 0.0
    assert bench.stage.limited[0, 1] > 0 == bench.stage.limited[0, 0]


def test_the_bias_has_its_limit_and_what_is_missing_is_counted(arm: str) -> None:
    bench = Bench(arm, largest_bias=0.1)
    written = bench.settled()
    assert abs(written.position[0] - LEVEL[0]) == pytest.approx(0.1)
    assert bench.stage.limited[0, 0] > 0
    assert bench.stage.limited[0, 1] == 0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_target_stays_in_the_range_of_the_joint(bench: Bench, sign: float) -> None:
    end = HIGHEST if sign > 0.0 else LOWEST
    bench.state.position[0] = bench.command.position[0] = end - 0.01 * sign
    written = bench.settled()
    assert written.position[0] == pytest.approx(end)


def test_a_joint_beyond_its_range_is_not_pushed_further(bench: Bench) -> None:
    bench.state.position[0] = bench.command.position[0] = HIGHEST + 0.2
    assert bench.settled().position[0] <= HIGHEST + 0.2


def test_the_spring_stays_within_the_effort_limit(bench: Bench) -> None:
    bench.effort_limit[:] = 4.0
    bench.command.position[0] = LEVEL[0] + 0.15  # 3 Nm
    written = bench.settled()
    assert STIFFNESS * (written.position[0] - LEVEL[0]) == pytest.approx(4.0)


def test_all_torques_together_stay_within_the_effort_limit(bench: Bench) -> None:
    bench.effort_limit[:] = 2.0
    for away, velocity in ((0.08, 0.0), (0.0, 0.5), (0.1, 0.0), (-0.1, 0.0)):
        bench.stage.restart()
        bench.command.position[1] = LEVEL[1] + away
        bench.command.velocity[1] = velocity
        written = bench.settled()
        assert abs(mit_torque(written, bench.state)[1]) <= 2.0 + 1e-9


def test_a_joint_without_stiffness_gets_no_bias(bench: Bench) -> None:
    bench.command.stiffness[:] = 0.0
    written = bench.settled()
    np.testing.assert_array_equal(written.position, LEVEL)
    assert written.effort[1] == pytest.approx(bench.model.torque(LEVEL)[1])


def test_a_bias_begins_anew_when_stiffness_comes_back(bench: Bench) -> None:
    bench.settled()
    bench.command.stiffness[:] = 0.0
    bench.tick()
    bench.command.stiffness[:] = STIFFNESS
    step = EFFORT * PERIOD / RISE / (STIFFNESS * EFFICIENCY)  # [rad]
    assert abs(bench.tick().position[0] - LEVEL[0]) == pytest.approx(step)


def test_a_joint_without_measurement_changes_nothing(bench: Bench) -> None:
    before = bench.settled().array.copy()
    bench.state.position[1] = np.nan
    assert bench.tick(10).position[0] == before[0, 0]
    bench.state.position[1] = LEVEL[1]
    np.testing.assert_array_equal(bench.tick().array, before)


def test_payloads_that_no_link_can_carry_are_refused(bench: Bench) -> None:
    for payload in (Payload("base", 1.0), Payload("lower", 5.1)):
        with pytest.raises(ConfigError):
            bench.stage.carry(payload)
    assert bench.stage.payloads == ()


# In the loop.


class LoopBench(Rig):
    """The same arm in a loop; `remote` has gravity compensation."""

    def __init__(
        self,
        urdf: str,
        members: dict[str, tuple[int, bool]] | None = None,
        hardware: ScriptedHardware | None = None,
    ) -> None:
        super().__init__({"arm": (hardware or ScriptedHardware(), JOINTS)})
        self.hardware = self.group.members[0].component
        self.torque = GravityModel(urdf, JOINTS).torque(np.full(2, 0.5))
        compensation = GravityCompensation(
            GravityModel(urdf, JOINTS),
            self.limits._limits,
            Joints(BOTH, np.ones(2), BOTH),
            largest_bias=1.0,
            largest_payload=5.0,
        )
        self.loop.gravity = compensation
        slots = {name: ControllerSlot(name, it) for name, it in self.controllers.items()}
        remote = ScriptedController(Mode.REMOTE, STIFF_NEEDS, 20.0, 2.0)
        slots["remote"] = ControllerSlot("remote", remote, compensates_gravity=True)
        slots["damped"] = ControllerSlot(
            "damped", self.controllers["damped"], compensates_gravity=True
        )
        for name, (row, wants) in (members or {}).items():
            member = ScriptedController(Mode.REMOTE, STIFF_NEEDS, 20.0, 2.0)
            claimed = ClaimedJoints(np.array([row]))
            slots[name] = ControllerSlot(name, member, claimed=claimed, compensates_gravity=wants)
        slots = {name: slot for name, slot in slots.items() if name != "remote" or not members}
        self.loop.exchange_slots(slots)
        self.start()

    @property
    def effort(self) -> np.ndarray:
        return self.hardware.written[-1][2]


def test_only_a_controller_that_requests_it_is_held_against_gravity(arm: str) -> None:
    rig = LoopBench(arm)
    rig.ask("remote")
    rig.tick(200)
    assert rig.effort == pytest.approx(rig.torque)
    assert rig.loop.snapshot.compensation[1] == pytest.approx(rig.torque)
    rig.ask_down("damped")
    rig.ask("standby")
    rig.tick(200)
    assert not rig.effort.any()


def test_no_joint_is_held_against_gravity_before_its_stiffness_is_confirmed(arm: str) -> None:
    drives = ConfirmingHardware(confirmed=False)
    rig = LoopBench(arm, hardware=drives)
    rig.ask("remote")
    rig.tick(10)
    assert rig.loop.snapshot.phase is Phase.PREPARING
    assert not rig.effort.any()
    drives.confirmed = True
    rig.tick(200)
    assert rig.effort == pytest.approx(rig.torque)


def test_fall_removes_the_compensation_in_the_same_tick_and_damping_has_none(arm: str) -> None:
    rig = LoopBench(arm)
    rig.ask("remote")
    rig.tick(200)
    assert rig.effort.any()
    rig.loop.request_fall(Reason.of(CONTROLLER_FAILED, "a test"))
    rig.tick()
    assert rig.loop.snapshot.mode is Mode.DAMPING
    assert not rig.effort.any()
    rig.tick(50)
    assert not rig.effort.any()


def test_a_group_is_held_where_its_members_request_it(arm: str) -> None:
    rig = LoopBench(arm, {"one": (0, False), "other": (1, True)})
    rig.ask("one+other")
    rig.tick(200)
    assert rig.effort == pytest.approx([0.0, rig.torque[1]])
