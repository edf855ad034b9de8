"""Exact reaction times of the component: bus, motors and component on one stepped clock.

The times are copies of those in docs/can.md.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.guard.channel import Stage
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
GAINS, COMMAND, SELECT_MODE, RESET = 0x45, 0x09, 0x01, 0x00
FEEDBACK_1, FEEDBACK_2 = 0xB1, 0xB2
TICK = 0.02  # [s] of the loop
OPENING = 0.01  # [s] of the bench's adapter
FRAME = 0.0002  # [s] longer than any frame takes


def of(id_: int, kind: int) -> int:
    return 0x05060000 | id_ << 8 | kind


@pytest.fixture
def wrists(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig
) -> Callable[..., tuple[CanBench, CanRig]]:
    """The four wrists, not yet activated: (bench, rig)."""

    def make(timing: Timing | None = None, **info: Any) -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        block = can_info(IDS, "TA40-50", channel=bench.address, **info)
        system = SitoSystem(timing or Timing(), bench.host)
        return bench, can_rig(system, block, bench.time)

    return make


def settled(rig) -> None:
    """Run the loop without a fault."""
    rig.activate()
    assert rig.run(1.5).level is SafetyLevel.OK


def ticks_until(rig, flag: SafetyFlag) -> int:
    for ticks in range(500):
        if rig.tick().flags & flag:
            return ticks
        rig.pause(TICK)
    raise AssertionError("never")


@pytest.mark.parametrize("id_", IDS)
def test_silence_is_a_fault_after_200_ms_in_the_next_tick(wrists, id_) -> None:
    bench, rig = wrists()
    settled(rig)
    heard = bench.heard()
    rig.pause(TICK)
    bench.call("freeze", id_)
    last = max(at for at, sent, _ in heard if sent in (of(id_, FEEDBACK_1), of(id_, FEEDBACK_2)))
    ticks_until(rig, SafetyFlag.RX_TIMEOUT)
    # The report is that of the receiver's latest check, 0.05 s ago at most.
    assert 0.2 < bench.time.clock() - last <= 0.2 + 0.01 + 0.05 + TICK


def test_silence_of_200_ms_and_less_is_none(wrists) -> None:
    bench, rig = wrists()
    settled(rig)
    for _ in range(5):
        bench.call("freeze", 38)
        for _ in range(8):  # 160 ms, and a feedback's interval before and behind
            assert rig.tick().level is SafetyLevel.OK
            rig.pause(TICK)
        bench.call("freeze", 38, False)
        rig.run(0.1)


def test_unchanged_gains_are_sent_again_twice_a_second(wrists) -> None:
    bench, rig = wrists()
    rig.command.stiffness[:], rig.command.damping[:] = 20.0, 2.0
    settled(rig)
    heard = bench.heard()
    rig.run(5.0)
    for id_ in IDS:
        times = [at for at, sent, _ in heard if sent == of(id_, GAINS)]
        assert len(times) == 10
        gaps = [b - a for a, b in pairwise(times)]
        assert min(gaps) >= 0.5 - FRAME
        assert max(gaps) <= 0.5 + TICK + FRAME


@pytest.mark.parametrize(("rate", "limit"), [(50.0, 0.2), (200.0, 0.2), (10.0, 0.4)])
def test_command_that_waits_is_an_overrun_after_200_ms_or_four_periods(wrists, rate, limit) -> None:
    bench, rig = wrists(update_rate=rate, block={"guard_timeout": "0"})
    settled(rig)
    for id_ in IDS:  # no acknowledgement: the queue of ten fills up, and then nothing gets out
        bench.call("power_off", id_)
    report = rig.until(lambda report: report.flags & SafetyFlag.TX_QUEUE_OVERRUN)
    assert report.level is SafetyLevel.FAULT
    waited = bench.time.clock() - rig.system._lifecycle.session.transmit_queue.waiting_since()
    assert limit < waited < limit + rig.period + 1e-6


def test_order_is_repeated_after_1_4_s_and_abandoned_after_3_s(wrists) -> None:
    bench, rig = wrists()
    bench.call("freeze", 39)
    heard = bench.heard()
    with pytest.raises(HardwareError, match=r"j3 \(id 39\): no answer within 3 s"):
        rig.activate()
    asked = [at for at, sent, _ in heard if sent == of(39, SELECT_MODE)]
    gaps = [round(b - asked[0], 1) for b in asked]
    assert gaps == [0.0, 1.4, 2.8]
    end = min(at for at, sent, _ in heard if sent == of(39, RESET) and at > asked[0])
    assert end - asked[0] == pytest.approx(3.0, abs=0.02)


def test_exact_set_of_frames_on_the_bus(wrists) -> None:
    bench, rig = wrists()
    heard = bench.heard()
    rig.command.stiffness[:] = 20.0
    settled(rig)
    rig.deactivate()
    rig.pause(0.2)
    expected = {
        of(id_, kind)
        for id_ in IDS
        for kind in (GAINS, COMMAND, SELECT_MODE, RESET, FEEDBACK_1, FEEDBACK_2)
    }
    assert {sent for _, sent, _ in heard} == expected
    assert {len(data) for _, _, data in heard} == {8}


def test_until_the_loop_begins_a_keep_alive_is_sent_every_50_ms(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    heard = bench.heard()
    rig.pause(2.0)
    for id_ in IDS:
        times = [at for at, sent, _ in heard if sent == of(id_, COMMAND)]
        gaps = [b - a for a, b in pairwise(times)]
        assert min(gaps) >= 0.05 - FRAME
        assert max(gaps) <= 0.05 + 20 * FRAME
        gains = {data for _, sent, data in heard if sent == of(id_, GAINS)}
        assert gains == {struct.pack(">ff", 0.0, 0.0)}


@pytest.mark.parametrize("timeout", [0.2, 0.5])
def test_guard_disables_all_motors_soon_after_the_loop_has_stood_still_too_long(
    wrists, timeout
) -> None:
    bench, rig = wrists(interface="socketcan", block={"guard_timeout": str(timeout)})
    rig.command.stiffness[:] = 20.0
    settled(rig)  # it does not act on a loop that continues
    guard = rig.system._lifecycle.guard
    assert guard.stage is Stage.WATCHES
    assert not guard.problem()
    last = bench.time.clock() - TICK
    heard = bench.heard()
    while guard.stage is not Stage.DONE:
        rig.pause(0.001)
    resets = {sent: at - last for at, sent, _ in reversed(heard) if sent & 0xFF == RESET}
    assert set(resets) == {of(id_, RESET) for id_ in IDS}
    for first in resets.values():  # a check every 0.02 s, and the guard opens the adapter
        assert timeout < first < timeout + 2 * 0.02 + OPENING + 20 * FRAME
    assert bench.time.clock() - last < timeout + 0.3
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))
    assert "disabled by the guard" in rig.tick().message
