"""No drive is enabled, or enabled again, in another mode, without SYNC0 or with another time."""

from __future__ import annotations

import logging
import struct
from concurrent.futures import Future
from dataclasses import replace

import pytest

from humanoid_devices_erob.bring_up.drive_setup import interpolation_bytes
from humanoid_devices_erob.bring_up.readiness import Readiness
from humanoid_devices_erob.errors import BringUpError, DriveSetupError
from humanoid_devices_erob.mailbox.mailbox_port import Access
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus

HEALTHY = 5687
SAFEOP, OP = 4, 8


def watch_statuswords(bench, slave: int) -> set[object]:
    words: set[object] = set()
    bench.time.on_sleep = lambda _: words.add(bench.of_drives("statusword")[slave])
    return words


def shorten_activation_timeout(bench) -> None:
    block = {"interface": bench.interface, "activation_timeout": "1", "bringup_frequency": "100"}
    bench.new_system(block=block)


@pytest.mark.parametrize("mode", [0, -3])
def test_drive_in_another_mode_is_refused_at_once_by_name_and_never_enabled(
    make_bench, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    bench = make_bench(2, assume={"frames_to_lock": 20})
    bench.control.keep_mode(1, mode)
    shorten_activation_timeout(bench)
    words = watch_statuswords(bench, 1)
    message = rf"^j1: not enabled: it is in mode {mode} \(0x6061\)"
    with pytest.raises(DriveSetupError, match=message):
        bench.activate()
    assert "once more" not in caplog.text  # repetition doesn't change a mode
    assert HEALTHY not in words
    assert bench.of_drives("al_state") == [1, 1]


def test_drive_that_shows_its_mode_late_is_waited_for(make_bench) -> None:
    bench = make_bench(2, assume={"first_mode": 0})
    bench.activate()
    bench.tick(3)
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    assert bench.faults() == []


def test_drive_that_does_not_report_its_mode_is_not_enabled(make_bench) -> None:
    bench = make_bench(2, assume={"frames_to_lock": 20})
    shorten_activation_timeout(bench)
    words: set[object] = set()

    def look(_: float) -> None:
        drive = bench.control.drives()[1]
        words.add(drive["statusword"])
        if drive["al_state"] in (SAFEOP, OP):
            bench.control.mailbox_delay(float("inf"), 1)
        elif drive["al_state"] == 1:
            bench.control.mailbox_delay(0.0, 1)

    bench.time.on_sleep = look
    with pytest.raises(BringUpError, match=r"j1: not enabled: has not reported"):
        bench.activate()
    assert HEALTHY not in words


def recover(bench, most: int = 170) -> None:
    """Reset, and tick as long as a recovery may take."""
    bench.system.reset_faults()
    for _ in range(most):
        bench.tick()
        if bench.system.safety().level == 0:
            return


def test_drive_that_fell_into_another_mode_is_not_enabled_again(make_bench) -> None:
    bench = make_bench(3)
    bench.activate()
    bench.tick(5)
    bench.control.drive_error(1, 0x8500)
    bench.control.keep_mode(1, 3)
    bench.tick(3)
    words = watch_statuswords(bench, 1)
    recover(bench)
    assert HEALTHY not in words
    assert "j1: not enabled: it is in mode 3 (0x6061)" in bench.system.safety().message
    assert [bench.of_drives("statusword")[i] for i in (0, 2)] == [HEALTHY] * 2


def test_drive_whose_clock_is_off_is_not_enabled_again_before_it_has_converged(make_bench) -> None:
    bench = make_bench(3)
    bench.activate()
    bench.tick(5)
    bench.control.drive_error(1, 0x8500)
    bench.tick(3)
    restart = Access(1, 0x0930, data=struct.pack("<H", 0x1000))  # of the time filter
    bench.system._master.access([restart])
    assert bench.of_drives("dc_difference_ns")[1] > 100_000
    words = watch_statuswords(bench, 1)
    recover(bench)
    assert HEALTHY not in words
    message = bench.system.safety().message
    assert "j1: not enabled: its clock is " in message
    assert "expected less than 1000" in message
    bench.tick(200)
    recover(bench)
    assert bench.of_drives("statusword") == [HEALTHY] * 3
    assert bench.system.safety().message == ""


def test_drive_that_runs_freely_is_refused_by_name_and_never_enabled(make_bench) -> None:
    bench = make_bench(2, assume={"sync_type": "free-run", "frames_to_lock": 20})
    shorten_activation_timeout(bench)
    words = watch_statuswords(bench, 1)
    with pytest.raises(DriveSetupError, match=r"^j0, j1: not enabled: .*SYNC0 \(0x1C32:01 is 0, "):
        bench.activate()
    assert HEALTHY not in words


@pytest.mark.parametrize(("kind", "reported"), [("dc", False), ("absent", True)])
def test_drive_that_does_not_report_its_synchronization_is_reported(
    make_bench, caplog: pytest.LogCaptureFixture, kind: str, reported: bool
) -> None:
    bench = make_bench(2, assume={"sync_type": kind})
    with caplog.at_level(logging.INFO):
        bench.activate()
    bench.tick(3)
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    warnings = [text for text in caplog.messages if "no 0x1C32:01: not checked" in text]
    assert len(warnings) == reported  # one for all drives
    assert all("j0, j1" in text for text in warnings)


class Answers:
    """A ring of one drive with scripted answers, and its clock."""

    def __init__(self, mode: SdoResult, sync: SdoResult) -> None:
        self.mode, self.sync = mode, sync
        self.asked = 0
        self.sdo = self

    def submit(self, batch: SdoBatch) -> Future[tuple[SdoResult, ...]]:
        self.asked += 1
        future: Future[tuple[SdoResult, ...]] = Future()
        future.set_result((self.mode, self.sync))
        return future

    def clock_difference(self, slave: int) -> int | None:
        return 0


CSP = SdoResult(SdoObject(0, 0x6061, 0, b"\x08"), SdoStatus.DONE)
SYNC0 = SdoResult(SdoObject(0, 0x1C32, 1, b"\x02\x00"), SdoStatus.DONE)


@pytest.mark.parametrize("status", [SdoStatus.TIMED_OUT, SdoStatus.ABORTED, SdoStatus.REFUSED])
@pytest.mark.parametrize("index", [0x6061, 0x1C32])
def test_drive_that_can_not_be_read_is_not_ready_and_is_read_again(
    index: int, status: SdoStatus
) -> None:
    """A failed reading may contain bytes of an older one."""
    well = {0x6061: CSP, 0x1C32: SYNC0}
    failed = replace(well[index], status=status, message="no luck", abort_code=0x0800_0000)
    answers = Answers(*(well | {index: failed}).values())
    readiness = Readiness(answers, answers, ["j0"])
    readiness.query([0])
    readiness.query([0])
    assert readiness.ready.tolist() == [False]
    assert "can't be read: no luck" in readiness.problems([0])
    answers.mode, answers.sync = CSP, SYNC0
    readiness.query([0])
    readiness.query([0])
    assert readiness.ready.tolist() == [True]
    assert answers.asked == 2


# Interpolation.


def interpolation_writes(bench) -> list[tuple[int, int, object]]:
    return [
        (slave, it["subindex"], it["value"])
        for _, slave, kind, it in bench.control.log()
        if kind == "write" and it["index"] == 0x60C2
    ]


def test_interpolation_period_becomes_that_of_the_loop_and_only_once(make_bench) -> None:
    bench = make_bench(2, assume={"interpolation": "writable"})
    bench.new_system(update_rate=200.0)
    bench.activate()
    written = interpolation_writes(bench)
    assert {it[:2] for it in written} == {(0, 1), (0, 2), (1, 1), (1, 2)}
    bench.system.on_deactivate()
    bench.new_system(update_rate=200.0)
    bench.activate()
    assert interpolation_writes(bench) == []


def test_drive_without_interpolation_period_is_left_alone(make_bench) -> None:
    bench = make_bench(1)
    bench.activate()
    assert interpolation_writes(bench) == []


@pytest.mark.parametrize("offer", ["kept", "read-only"])
def test_drive_that_keeps_another_interpolation_period_is_refused_by_name(
    make_bench, offer: str
) -> None:
    bench = make_bench(1, assume={"interpolation": offer})
    with pytest.raises(BringUpError, match=r"j0: 0x60C2:01: "):
        bench.activate()
    bench.new_system(update_rate=1000.0)  # the drive keeps 1 ms
    bench.activate()
    bench.tick(3)
    assert bench.of_drives("statusword") == [HEALTHY]


@pytest.mark.parametrize(
    ("nanoseconds", "period", "index"),
    [
        (20_000_000, 20, -3),
        (1_000_000, 1, -3),
        (2_500_000, 25, -4),
        (50_000_000, 50, -3),
    ],
)
def test_interpolation_period_in_the_objects_units(nanoseconds, period, index) -> None:
    assert interpolation_bytes(nanoseconds) == (bytes([period]), struct.pack("b", index))


def test_interpolation_period_of_the_loop_that_does_not_fit_is_refused(make_bench) -> None:
    bench = make_bench(1, assume={"interpolation": "writable"})
    bench.new_system(update_rate=1000.0 / 33.5)
    with pytest.raises(BringUpError, match=r"j0: 0x60C2 can't hold .*33.5 ms"):
        bench.activate()
