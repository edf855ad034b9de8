"""A joint whose encoder lost whole turns is corrected or refused, and never driven by a turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import Reason
from humanoid_controller_manager.safety.measurement_check import ASSUMED_FRICTION, MeasurementCheck
from humanoid_devices_erob.drive.joint_frame import JointFrame
from humanoid_devices_erob.errors import TurnsError
from humanoid_devices_erob.master.process_image import ProcessImage
from humanoid_devices_erob.settings import parse_settings

TURN = 524288  # [counts]
LIMITS = JointLimits(
    lower=np.full(2, -3.0),
    upper=np.full(2, 3.0),
    velocity=np.full(2, 4.0),
    effort=np.full(2, 30.0),
)


def test_joint_that_is_not_clear_is_named_unless_it_has_no_calibration(make_info) -> None:
    info = make_info(3, positions=[2, 0, 1], calibration=[(-1, 0.5), (1, 0.0), (1, -0.25)])
    frame, image = JointFrame(parse_settings(info)), ProcessImage(3)
    image.position[:] = TURN // 2, 0, 0  # of j1, which is not calibrated
    frame.find_turns(image)
    assert image.turns.tolist() == [0, 0, 0]
    image.position[1] = TURN // 2 - TURN // 25  # of j2: 3.14 - 0.25 + 0.25
    with pytest.raises(TurnsError, match=r"turns brings j2 at 3.14 rad \(limits -3.00 to 3.00\)"):
        frame.find_turns(image)


def test_only_a_calibrated_joint_blames_the_battery_and_only_once(make_info, caplog) -> None:
    info = make_info(2, calibration=[(1, 0.0), (1, 0.25)])
    frame, image = JointFrame(parse_settings(info)), ProcessImage(2)
    image.position[:] = TURN
    frame.find_turns(image)
    frame.find_turns(image)
    assert [record.getMessage() for record in caplog.records] == [
        "j0: 1 turns of its encoder are left out: it is not calibrated",
        "j1: its encoder is off by 1 turns, which is compensated: replace its battery, "
        "unless its homing_offset is in degrees",
    ]
    assert image.turns.tolist() == [-TURN, -TURN]


@pytest.mark.parametrize("direction", [1, -1])
def test_lost_turns_are_allowed_for_and_the_joint_stays_where_it_is(
    make_bench, direction: int
) -> None:
    bench = make_bench(1, assume={"keeps_turns": False})
    bench.control.set_joint(0, -1.0)
    bench.control.power_cycle(0)
    bench.new_system(calibration=[(direction, 0.0)])
    bench.activate()
    raw = bench.of_drives("position")[0]
    assert raw == pytest.approx(TURN - TURN / math.tau, abs=2)  # not -1 rad
    assert bench.state.position == pytest.approx([-direction * 1.0], abs=1e-4)
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.position[:] = bench.state.position
    bench.command.stiffness[:] = 20.0
    bench.tick(50)
    assert bench.of_drives("joint_position")[0] == pytest.approx(-1.0, abs=1e-3)
    assert bench.of_drives("target")[0] == pytest.approx(raw, abs=3)


def test_joint_in_no_clear_place_is_refused_before_it_is_enabled(make_bench) -> None:
    bench = make_bench(2)
    bench.control.set_joint(1, 3.14)
    bench.new_system(calibration=[(1, 0.01), (1, 0.01)])
    words = set()
    bench.time.on_sleep = lambda _: words.update(bench.of_drives("statusword"))
    with pytest.raises(TurnsError, match=r"j1 at 3.13 rad.*by hand"):
        bench.system.on_activate(bench.state)
    assert 5687 not in words
    assert bench.of_drives("al_state") == [1, 1]


def test_turn_lost_in_operation_is_one_jump_and_found_again_by_one_reset(make_bench) -> None:
    """The measurement check of the manager is active, as in the loop."""
    bench = make_bench(2)
    bench.new_system(calibration=[(1, 0.01), (1, 0.01)])
    bench.activate()
    limits = np.full(2, 6.0)
    trip = MeasurementCheck(JointSet(("j0", "j1")), limits, ASSUMED_FRICTION * LIMITS.effort, 50.0)
    reasons: list[Reason] = []
    teleports = 0

    def tick() -> None:
        nonlocal teleports
        bench.tick()
        if bench.system.teleports != teleports:
            teleports = bench.system.teleports
            trip.restart()
        found = trip.check(bench.state, bench.period)
        if found and trip.found_new_problem:
            reasons.append(found)

    bench.system.mode_changed(Mode.DAMPING, 1)
    for _ in range(10):
        tick()
    bench.control.set_joint(1, math.tau)
    for _ in range(10):
        tick()
    assert reasons[0].text.startswith("j1 is 6.28 rad from where it was")
    count = len(reasons)
    bench.system.reset_faults()
    for _ in range(50):
        tick()
    assert bench.state.position == pytest.approx([-0.01, -0.01], abs=0.02)
    assert reasons[count:] == []
    assert bench.system.safety().level == 0


def in_operation(bench) -> list[bool]:
    return [word & 0x6F == 0x27 for word in bench.of_drives("statusword")]


@pytest.mark.parametrize("faulty", [False, True], ids=["alone", "beside a fault"])
def test_reset_of_a_joint_in_no_clear_place_leaves_out_its_drive_alone(make_bench, faulty) -> None:
    bench = make_bench(3)
    bench.new_system(calibration=[(1, 0.01)] * 3)
    bench.activate()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    for step in range(1, 33):  # its drive stays in operation
        bench.control.set_joint(1, 3.14 * step / 32)
        bench.tick()
    if faulty:
        bench.control.drive_error(2, 0x8500)
    bench.tick(3)
    assert in_operation(bench) == [True, True, not faulty]
    bench.system.reset_faults()
    bench.tick(60)
    assert in_operation(bench) == [True, False, True]
    report = bench.system.safety()
    assert report.level == 2
    assert "j1 at 3.13 rad" in report.message
    assert "j0" not in report.message
    assert "j2" not in report.message
    bench.control.set_joint(1, 0.5)
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(60)
    assert in_operation(bench) == [True] * 3
    assert bench.system.safety().level == 0


def test_turns_of_the_other_joints_are_found_beside_one_in_no_clear_place(make_bench) -> None:
    bench = make_bench(2)
    bench.new_system(calibration=[(1, 0.01), (1, 0.01)])
    bench.activate()
    bench.system.mode_changed(Mode.DAMPING, 1)
    bench.tick(3)
    bench.control.set_joint(0, math.tau)
    bench.control.set_joint(1, 3.14)
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(20)
    assert bench.state.position == pytest.approx([-0.01, 3.13], abs=0.02)
