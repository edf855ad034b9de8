"""Gains and targets on their way to a motor: no frame is lost, late or early."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.codec import Command, Gains, MessageType, identifier
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
TICK = 0.02  # [s] of the loop
ON_THE_WAY = 0.002  # [s] longer than the frames of a tick take
STIFFNESS_UNIT = 688.58  # [Nm/rad] of the firmware
COUNTS = 10430.378350470453  # per radian
FAR = 2.0  # [rad]

Heard = Iterable[tuple[float, int, bytes]]


@pytest.fixture
def wrists(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig
) -> Callable[[], tuple[CanBench, CanRig]]:
    """The four wrists, activated: (bench, rig)."""

    def make() -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        block = can_info(IDS, "TA40-50", channel=bench.address)
        rig = can_rig(SitoSystem(Timing(), bench.host), block, bench.time)
        rig.activate()
        assert rig.run(1.0).level is SafetyLevel.OK
        return bench, rig

    return make


def gains_of(heard: Heard, id_: int) -> list[Gains]:
    wanted = identifier(id_, MessageType.GAINS)
    return [Gains.decode(data) for _, can_id, data in heard if can_id == wanted]


def largest_pull(heard: Heard, id_: int, stiffness: float, target: float) -> float:
    """Return the largest torque [Nm] of a motor's spring at position 0, from the first values."""
    largest = abs(stiffness * target)
    for _, can_id, data in heard:
        if can_id == identifier(id_, MessageType.GAINS):
            stiffness = Gains.decode(data).stiffness * STIFFNESS_UNIT
        elif can_id == identifier(id_, MessageType.COMMAND):
            target = Command.decode(data).position / COUNTS
        largest = max(largest, abs(stiffness * target))
    return largest


@pytest.mark.parametrize("id_", IDS)
def test_a_motor_never_pulls_with_a_new_gain_at_an_old_target(wrists, id_) -> None:
    """A target left far away while the joint was soft, and stiffness together with a near one."""
    bench, rig = wrists()
    rig.command.position[:] = FAR
    rig.run(0.5)
    heard = bench.heard()
    rig.command.position[:], rig.command.stiffness[:] = 0.01, 20.0
    rig.run(0.1)
    assert gains_of(heard, id_)
    assert largest_pull(heard, id_, 0.0, FAR) == pytest.approx(20.0 * 0.01, rel=0.01)


@pytest.mark.parametrize("id_", IDS)
def test_a_motor_never_pulls_with_an_old_gain_at_a_new_target(wrists, id_) -> None:
    """A stiff joint becomes soft, and its target goes away in the same tick."""
    bench, rig = wrists()
    rig.command.position[:], rig.command.stiffness[:] = 0.01, 20.0
    rig.run(0.5)
    heard = bench.heard()
    rig.command.position[:], rig.command.stiffness[:] = FAR, 0.0
    rig.run(0.1)
    assert gains_of(heard, id_)
    assert largest_pull(heard, id_, 20.0, 0.01) == pytest.approx(20.0 * 0.01, rel=0.01)


@pytest.mark.parametrize("id_", IDS)
def test_a_motor_that_was_silent_gets_its_gains_in_the_next_tick(wrists, id_) -> None:
    """It may have lost them: the repetition twice a second would come too late."""
    bench, rig = wrists()
    rig.command.damping[:] = 6.0
    rig.run(1.0)
    for repetition in range(5):  # 0.34, 0.44 ... s: longer and shorter than a repetition's period
        bench.call("cut", id_)
        report = rig.run(0.3 + 0.1 * repetition)
        assert report.flags & SafetyFlag.RX_TIMEOUT
        bench.call("mend", id_)
        heard = bench.heard()
        rig.pause(TICK)  # its feedback arrives
        rig.tick()
        rig.pause(ON_THE_WAY)
        assert gains_of(heard, id_) == [Gains(0.0, pytest.approx(6.0 / 1.125))]
        rig.run(0.5)


@pytest.mark.parametrize("id_", IDS)
def test_a_motor_that_is_being_enabled_again_gets_no_gains_of_the_loop(wrists, id_) -> None:
    bench, rig = wrists()
    rig.command.damping[:] = 6.0
    bench.call("power_off", id_)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    bench.call("power_on", id_)
    bench.call("delay_enable", id_, 0.5)
    heard = bench.heard()
    rig.call(rig.system.reset_faults)
    while not bench.drive(id_)["firmware"]["enabled"]:
        assert rig.tick().level is SafetyLevel.FAULT
        rig.pause(TICK)
    assert set(gains_of(heard, id_)) == {Gains(0.0, 0.0)}
    rig.until(lambda report: report.level is SafetyLevel.OK)
    rig.run(0.1)
    assert bench.drive(id_)["firmware"]["damping"] == pytest.approx(6.0)
