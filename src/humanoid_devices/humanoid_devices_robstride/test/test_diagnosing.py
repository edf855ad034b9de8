"""The reports of a Robstride appear at its joint, with the remedy."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_devices_can.timing import Timing
from humanoid_devices_robstride.codec import Fault
from humanoid_devices_robstride.robstride_system import RobstrideSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [5, 6]


@pytest.fixture
def wrists(can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig) -> tuple[CanBench, CanRig]:
    """Two motors, enabled: (bench, rig)."""
    bench = can_bench("robstride", "rs-03", IDS)
    info = can_info(IDS, "rs-03", channel=bench.address)
    rig = can_rig(RobstrideSystem(Timing(), bench.host), info, bench.time)
    rig.activate()
    rig.tick()
    return bench, rig


def joint(rig, name: str) -> Diagnosis:
    return next(it for it in rig.system.diagnose() if it.name == f"joint: {name}")


def test_a_fault_is_reported_at_its_joint_with_a_fix(wrists) -> None:
    bench, rig = wrists
    bench.call("motor_fault", 6, int(Fault.UNDERVOLTAGE))
    rig.until(lambda _: joint(rig, "j1").level is DiagnosisLevel.ERROR)
    found = joint(rig, "j1")
    assert "undervoltage" in found.values["faults"]
    assert found.codes == ("MOTOR_FAULT", "UNDERVOLTAGE")
    assert joint(rig, "j0").level is DiagnosisLevel.OK


def test_temperature_and_enabling_are_reported_and_heat_is_a_warning_with_a_fix(wrists) -> None:
    bench, rig = wrists
    assert joint(rig, "j0").values["enabled"] == "yes"
    bench.call("overheat", 5, 140.0)
    rig.until(lambda _: joint(rig, "j0").level is DiagnosisLevel.WARN)
    found = joint(rig, "j0")
    assert found.values["temperature [degC]"] == "140.0"
    assert found.codes


def test_lost_frames_are_a_warning_while_they_last(wrists) -> None:
    bench, rig = wrists

    def after(seconds: int) -> Diagnosis:
        for _ in range(seconds):
            rig.run(1.0)
            found = joint(rig, "j0")
        return found

    healthy = after(3)
    assert (healthy.level, healthy.codes) == (DiagnosisLevel.OK, ())
    assert healthy.values["frames that arrive [%]"] == "100"
    bench.call("drop", 0.3)
    assert "FRAMES_LOST" in after(4).codes
    bench.call("drop", 0.0)
    assert after(4).codes == ()
