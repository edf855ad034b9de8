"""Sito motors behind a serial line, with threads in wall time."""

from __future__ import annotations

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
QUICK = Timing(enable_timeout=0.4, enable_retry=0.15, disable_timeout=0.5)


@pytest.fixture
def wrists(can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig) -> tuple[CanBench, CanRig]:
    """The four wrists, not yet activated: (bench, rig)."""
    bench = can_bench("sito", "TA40-50", IDS, "slcan")
    block = can_info(IDS, "TA40-50", interface="slcan", channel=bench.address)
    return bench, can_rig(SitoSystem(QUICK), block)


def healthy(report) -> bool:
    return report.level is SafetyLevel.OK


def test_motors_give_the_commanded_torque_and_are_disabled_at_the_end(wrists) -> None:
    bench, rig = wrists
    bench.plant.set_brake(0, engaged=True)
    rig.activate()
    rig.command.position[0], rig.command.stiffness[0], rig.command.effort[0] = 0.1, 20.0, 0.3
    rig.until(lambda _: bench.drive(22)["torque"] == pytest.approx(2.3, abs=0.005))
    rig.until(lambda _: rig.state.effort[0] == pytest.approx(2.3, abs=0.01))
    rig.deactivate()
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))


@pytest.mark.parametrize(
    ("fault", "arguments", "message"),
    [
        ("power_off", (), r"no node acknowledges.*are the motors powered"),
        ("bitrate", (500_000,), r"1000000 bit/s the(ir| motors') bitrate"),
    ],
)
def test_bus_without_answers_is_explained(wrists, fault, arguments, message) -> None:
    bench, rig = wrists
    bench.call(fault, *arguments)
    with pytest.raises(HardwareError, match=message):
        rig.activate()


def test_bus_off_is_recognized_and_reset(wrists) -> None:
    bench, rig = wrists
    rig.activate()
    bench.call("bus_off")
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    rig.system.reset_faults()
    rig.until(healthy)


def test_adapter_plugged_in_again_works_without_status_flags(wrists) -> None:
    bench, rig = wrists
    rig.activate()
    bench.call("unplug")
    report = rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    assert "plug it in" in report.message
    bench.call("flags", False)
    bench.call("plug_in")
    rig.system.reset_faults()
    rig.until(healthy)
