"""The stack is safe with and without holding brakes in the drives, for any release time."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import NO_REASON
from humanoid_controller_manager.safety.measurement_check import ASSUMED_FRICTION, MeasurementCheck
from humanoid_devices_erob.drive.gains import Registers

INIT, OP = 1, 8
HEALTHY, FAULT = 5687, 4616
RAISED = 0.8  # [rad] where gravity pulls with about 4 Nm
STIFFNESS = 20.0  # [Nm/rad] nominal
NONE, QUICK, SLOW = {}, {"brake": "yes"}, {"brake": "yes", "brake_release": 0.3}
STUCK = {"brake": "yes", "brake_release": 3600.0}  # [s]


class LargestSpeed:
    """The largest speed of the joints at every frame."""

    def __init__(self, bench) -> None:
        self.bench, self.fastest = bench, np.zeros(bench.count)
        bench.time.on_frame = self._note_speeds

    def _note_speeds(self, _frame: bytes) -> None:
        np.maximum(self.fastest, np.abs(self.bench.time.world.plant.velocity), out=self.fastest)


def raised(make_bench, facts: dict[str, object]):
    """Two raised joints that fall without torque and brake."""
    bench = make_bench(2, joints="arms", assume=facts)
    for slave in range(2):
        bench.control.set_joint(slave, RAISED, 0.0)
    return bench


def stiff(bench) -> Registers:
    """Go from operation to STANDBY at rest; return the registers."""
    bench.enter(Mode.STANDBY, 1, STIFFNESS, 2.0)
    registers = bench.set_gains(STIFFNESS, 2.0)
    bench.command.stiffness[:] = STIFFNESS
    bench.command.position[:] = bench.state.position
    confirmed(bench, registers, 100)
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    return registers


def confirmed(bench, registers: Registers, count: int) -> None:
    """Run ticks with an impedance manager."""
    for _ in range(count):
        bench.state_impedance(registers)
        bench.tick()


def moved(bench, before: list[object]) -> float:
    """Return the way of the joint with the longest one [rad]."""
    now = bench.of_drives("joint_position")
    return max(abs(b - a) for a, b in zip(before, now, strict=True))


@pytest.mark.parametrize("facts", [NONE, QUICK, SLOW], ids=["none", "quick", "slow"])
def test_a_holding_brake_is_released_in_operation_and_holds_before_and_after(
    make_bench, facts: dict[str, object]
) -> None:
    bench = raised(make_bench, facts)
    if facts:
        bench.time.advance(0.5)
        assert bench.of_drives("joint_position") == [RAISED] * 2
    look = LargestSpeed(bench)
    bench.activate()
    bench.tick(30)
    if facts:  # no joint falls, and no joint jumps when the brake releases
        assert moved(bench, [RAISED] * 2) < 0.05
        assert look.fastest.max() < 0.2
    stiff(bench)
    before = bench.of_drives("joint_position")
    for slave in range(2):
        bench.control.external_torque(slave, 3.0)
    bench.tick(50)
    assert moved(bench, before) > 0.05  # no brake is left engaged in operation
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 2
    assert bench.of_drives("al_state") == [INIT] * 2
    assert bench.of_drives("error") == [0] * 2
    after = bench.of_drives("joint_position")
    for slave in range(2):
        bench.control.external_torque(slave, 10.0)  # the brake holds against any torque
    bench.time.advance(1.0)
    assert (moved(bench, after) < 1e-9) is bool(facts)
    assert bench.faults() == []


@pytest.mark.parametrize("facts", [NONE, QUICK, SLOW], ids=["none", "quick", "slow"])
def test_a_drive_that_falls_out_is_held_and_named_and_comes_back_where_it_is(
    make_bench, facts: dict[str, object]
) -> None:
    bench = raised(make_bench, facts)
    bench.activate()
    registers = stiff(bench)
    before = bench.of_drives("joint_position")
    bench.control.drive_error(0, 0x8500)
    bench.tick(3)
    message = bench.system.safety().message
    assert "j0: statusword 4616 (0x1208): fault" in message
    assert "j1" not in message
    bench.command.position[0] += 1.0  # the held joint gets no such command
    drive = bench.time.drives[0]
    for _ in range(10):
        confirmed(bench, registers, 1)
        if facts:
            assert drive.target == drive.position
    bench.system.mode_changed(Mode.DAMPING, 2)  # the loop has done this before
    bench.command.stiffness[:] = 0.0
    bench.control.external_torque(0, 5.0)
    bench.tick(50)
    assert bench.of_drives("statusword") == [FAULT, HEALTHY]
    after = bench.of_drives("joint_position")
    assert (abs(after[0] - before[0]) < 0.01) is bool(facts)
    bench.control.external_torque(0, 0.0)
    look = LargestSpeed(bench)
    bench.system.reset_faults()
    bench.tick(20)
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    if facts:
        assert look.fastest[0] < 1.0  # it sags as in STANDBY; a pull to the command would be a jump


@pytest.mark.parametrize("facts", [NONE, QUICK, SLOW], ids=["none", "quick", "slow"])
def test_an_arm_whose_stack_is_killed_is_held_by_its_brakes(
    make_bench, facts: dict[str, object]
) -> None:
    bench = raised(make_bench, facts)
    bench.activate()
    stiff(bench)
    before = bench.of_drives("joint_position")
    bench.time.advance(2.0)  # no frame any more: the watchdogs act
    assert bench.of_drives("statusword") == [FAULT] * 2
    assert (moved(bench, before) < 0.02) is bool(facts)


def test_an_ordered_exit_while_arms_sink_stops_them(make_bench) -> None:
    bench = raised(make_bench, QUICK)
    bench.activate()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    confirmed(bench, bench.set_gains(0.0, 6.0), 10)
    assert moved(bench, [RAISED] * 2) > 0.02
    speed = bench.time.world.plant.velocity.copy()
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 2
    after = bench.of_drives("joint_position")
    bench.time.advance(1.0)
    assert moved(bench, after) < 1e-9
    assert np.abs(speed).max() > 0.26  # [rad/s] 2.5 rpm, up to which the manual allows braking


def test_a_brake_that_stays_closed_is_reported_before_the_pull_on_it_has_grown(
    make_bench,
) -> None:
    """If it opens late, the joint does not move: in DAMPING its target has followed."""
    bench = raised(make_bench, STUCK)
    bench.activate()
    registers = stiff(bench)
    before = bench.of_drives("joint_position")
    count = bench.count
    friction = np.full(count, ASSUMED_FRICTION * 30.0)
    trip = MeasurementCheck(JointSet(("j0", "j1")), np.full(count, 6.0), friction, 50.0)
    reason = NO_REASON
    for _ in range(100):
        bench.command.position[0] += 0.02  # 1 rad/s
        confirmed(bench, registers, 1)
        position, stiffness = bench.command.position, bench.command.stiffness
        reason = trip.check_following(bench.state, position, stiffness, 0.02)
        if reason:
            break
    assert reason.text.startswith("j0 does not follow: no motion is measured")
    assert "brake" in reason.text
    assert bench.command.position[0] - before[0] < 1.5  # [rad], of the 2.5 of error 0x8500
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    bench.system.mode_changed(Mode.DAMPING, 2)
    bench.command.stiffness[:] = 0.0
    confirmed(bench, bench.set_gains(0.0, 6.0), 10)
    look = LargestSpeed(bench)
    bench.time.drives[0].shaft.brake(engaged=False)
    bench.tick(25)
    assert look.fastest[0] < 1.5  # damped; with the pull it would move with 10 rad/s
