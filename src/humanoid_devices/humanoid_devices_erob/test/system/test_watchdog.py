"""The reaction of the drives to the end of the process data."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT
from humanoid_devices_erob.errors import BringUpError
from humanoid_devices_erob.mailbox.mailbox_port import Access
from humanoid_devices_erob.master.watchdog import set_watchdogs, watched
from humanoid_devices_erob.settings import parse_settings

SAFEOP = 4
WATCHDOG = 0x1B
TICK = 0.001  # [s] of the drives' firmware
FRAME = 0.001  # [s] limit of the time of a frame from the master to the last drive


@pytest.mark.parametrize(("given", "expected"), [(None, 0.1), ("0.0615", 0.0615), ("0.25", 0.25)])
def test_every_drive_is_out_of_operation_in_time_after_the_last_frame(
    make_bench, given: str | None, expected: float
) -> None:
    bench = make_bench(4)
    info = bench._make_info(4, block={"interface": bench.interface, "watchdog_time": given})
    bench.system.on_configure(info)
    bench.activate()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.tick(5)
    np.testing.assert_array_equal(bench.system.watchdog_times(), expected)
    bench.control.log()
    bench.system.write(bench.command, bench.time.clock(), bench.period)
    last = bench.time.clock()
    bench.control.advance(1.0)
    left = [
        (time - last, slave, detail)
        for time, slave, kind, detail in bench.control.log()
        if kind == "state"
    ]
    assert {slave for _, slave, _ in left} == {0, 1, 2, 3}
    for time, _, detail in left:
        assert detail["state"] == SAFEOP
        assert detail["code"] == WATCHDOG
        # SYNC0 without frames may fault a drive before, but it leaves OP by its watchdog.
        assert expected - FRAME <= time <= expected + 2 * TICK
    assert not any(bench.of_drives("torque"))


def test_watchdog_of_another_program_is_replaced(make_any_bench) -> None:
    bench = make_any_bench(2)
    slow = bench._make_info(2, block={"interface": bench.interface, "watchdog_time": "0.5"})
    bench.system.on_configure(slow)
    bench.activate()
    bench.die()
    bench.new_system()
    bench.activate()
    bench.tick(2)
    bench.control.advance(0.2)
    assert bench.of_drives("al_state") == [SAFEOP] * 2


def test_component_reports_the_watchdogs_of_its_joints(make_info) -> None:
    from humanoid_devices_erob.erob_system import ErobSystem

    system = ErobSystem()
    assert "watchdog_times" in HARDWARE_CONTRACT.taken_on(type(system), "")
    system.on_configure(make_info(3, block={"watchdog_time": "0.2"}))
    np.testing.assert_array_equal(system.watchdog_times(), [0.2] * 3)


@pytest.mark.parametrize(
    ("rate", "text"), [(50.0, "0.049"), (20.0, "0.12"), (50.0, "1.01"), (50.0, "0")]
)
def test_watchdog_too_short_for_the_loop_or_too_long_is_refused(make_info, rate, text) -> None:
    with pytest.raises(ConfigError, match=r"Side.*watchdog_time is .*, expected"):
        parse_settings(make_info(1, update_rate=rate, block={"watchdog_time": text}))


@pytest.mark.parametrize(("rate", "expected"), [(20.0, 0.125), (25.0, 0.1), (1000.0, 0.1)])
def test_usual_watchdog_suits_the_loop(make_info, rate: float, expected: float) -> None:
    assert parse_settings(make_info(1, update_rate=rate)).watchdog_time == expected


class Registers:
    """A port to slaves that keep written values, except those in `stubborn`."""

    def __init__(self, stubborn: tuple[int, ...] = (), lost: int = 0) -> None:
        self.stubborn, self.lost = stubborn, lost
        self.memory: dict[tuple[int, int], bytes] = {}

    def access(self, accesses: list[Access]) -> list[bytes | None]:
        if self.lost:
            self.lost -= 1
            return [None] * len(accesses)
        for it in accesses:
            if it.data and it.slave not in self.stubborn:
                self.memory[it.slave, it.address] = it.data
        return [
            it.data or self.memory.get((it.slave, it.address), bytes(it.length)) for it in accesses
        ]


def test_lost_frame_is_made_good() -> None:
    port = Registers(lost=3)
    set_watchdogs(port, 0.1, ("a", "b"))
    assert port.memory[1, 0x0400] == (0x09C2).to_bytes(2, "little")
    assert port.memory[1, 0x0420] == (1000).to_bytes(2, "little")


def test_drives_that_keep_another_watchdog_end_the_bring_up_by_name() -> None:
    message = "no watchdog of 0.1 s: b, c: register 0x0400 reads back 0, written was 2498"
    with pytest.raises(BringUpError, match=re.escape(message)):
        set_watchdogs(Registers(stubborn=(1, 2)), 0.1, ("a", "b", "c"))


def test_drive_that_does_not_answer_is_reported() -> None:
    with pytest.raises(BringUpError, match="a: does not answer"):
        set_watchdogs(Registers(lost=99), 0.1, ("a",))


def test_drive_whose_watchdog_supervises_nothing_is_named(caplog: pytest.LogCaptureFixture) -> None:
    port = Registers()
    port.memory = {(0, 0x0814): b"\x64", (1, 0x0814): b"\x24"}
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(watched(port, ("a", "b")), [True, False])
    assert [text for text in caplog.messages if text.startswith("b: sync manager 2 does not feed")]
