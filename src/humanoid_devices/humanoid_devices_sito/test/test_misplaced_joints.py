"""A joint that is measured far outside its range is not enabled: a stiff mode would drive it in."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_devices_can.errors import MotorError
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23]
Make = Callable[..., tuple[CanBench, CanRig]]


@pytest.fixture
def motors(can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig) -> Make:
    """Make two motors, and a rig with the direction and offset [rad] of each."""

    def make(*calibration: tuple[int, float]) -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        places = {"interface": bench.interface, "channel": bench.address}
        info = can_info(IDS, "TA40-50", calibration=list(calibration), **places)
        return bench, can_rig(SitoSystem(Timing(), bench.host), info, bench.time)

    return make


@pytest.mark.parametrize("calibration", [(1, 2.51), (-1, -2.51), (1, math.tau - 3.0)])
def test_the_start_refuses_a_joint_far_outside_its_range_and_disables_all(
    motors, calibration: tuple[int, float]
) -> None:
    bench, rig = motors((1, 0.1), calibration)
    with pytest.raises(MotorError, match=r"j1 \(id 23\): measured at .* homing_offset 0") as error:
        rig.activate()
    assert "j0" not in str(error.value)
    assert "JOINT_MISPLACED" in error.value.reason.codes
    assert not any(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)


def test_whole_turns_are_added_to_what_is_measured_and_taken_from_what_is_commanded(
    motors,
) -> None:
    bench, rig = motors((1, math.tau + 0.1), (-1, 0.2 - 2.0 * math.tau))
    rig.activate()
    assert rig.state.position == pytest.approx([-0.1, 0.2], abs=1e-3)
    rig.command.position[:], rig.command.stiffness[:], rig.command.damping[:] = 0.5, 5.0, 1.0
    assert rig.run(2.0).level is SafetyLevel.OK
    assert rig.state.position == pytest.approx([0.5, 0.5], abs=0.05)
    assert [bench.drive(id_)["position"] for id_ in IDS] == pytest.approx([0.6, -0.3], abs=0.05)


def test_a_joint_a_little_outside_or_without_calibration_is_taken_as_measured(motors) -> None:
    bench, rig = motors((1, 2.49), (1, 0.0))
    bench.plant.set_state(1, 2.9, 0.0)
    rig.activate()
    assert rig.state.position == pytest.approx([-2.49, 2.9], abs=1e-3)
    assert rig.run(0.5).level is SafetyLevel.OK


def test_a_reset_does_not_enable_a_joint_that_is_far_outside_its_range(motors) -> None:
    bench, rig = motors((1, 0.1), (1, 0.1))
    rig.activate()
    rig.run(0.1)
    bench.call("power_off", 23)
    rig.until(lambda report: report.level is SafetyLevel.FAULT)
    bench.plant.set_state(1, 3.0, 0.0)
    bench.call("power_on", 23)
    rig.system.reset_faults()
    report = rig.until(lambda report: "not enabled again" in report.message)
    assert "j1 (id 23): measured at 2.90 rad (limits -2.00 to 2.00)" in report.message
    assert bench.drive(22)["firmware"]["enabled"]
    assert not bench.drive(23)["firmware"]["enabled"]
    bench.plant.set_state(1, 0.5, 0.0)
    rig.system.reset_faults()  # at once: the motor has sent its feedback a moment ago
    rig.until(lambda report: report.level is SafetyLevel.OK)
    assert bench.drive(23)["firmware"]["enabled"]
