"""Problems of the ring are reported while they last, with the joint's name and their meaning."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from test_support.stepped.stepped_time import SteppedTime

from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_erob.mailbox.mailbox_port import Access, MailboxLayout
from humanoid_devices_erob.master.al_state import AlState, AlStatus
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.operation.drive_monitor import DriveMonitor
from humanoid_devices_erob.protocol.pdo import TX_STRUCT
from humanoid_devices_erob.reason_codes import DRIVE_NOT_READY

JOINTS = ("shoulder", "elbow")
HEALTHY, FAULT = 5687, 4616


class Slaves:
    """Two slaves that answer with these statuswords, or not at all."""

    expected_working_counter = 6
    dc_time = 0

    def __init__(self) -> None:
        self.words = [HEALTHY, HEALTHY]
        self.counter = 6

    def exchange(self, outputs: bytes) -> tuple[int, bytes]:
        return self.counter, b"".join(TX_STRUCT.pack(word, 0, 0, 0) for word in self.words)

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        return [None] * len(accesses)


class Bench(SteppedTime):
    def __init__(self) -> None:
        self.now = 0.0
        self.slaves = Slaves()
        layout = MailboxLayout(0x1000, 128, 0x1080, 128)
        self.ring = Ring(self.slaves, [layout] * 2, self)
        self.ring.expected_working_counter = self.slaves.expected_working_counter
        self.monitor = DriveMonitor("Side", JOINTS)

    def clock(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def tick(self):
        self.advance(0.02)
        self.ring.exchange()
        self.monitor.update(self.ring)
        return self.monitor.report


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_healthy_ring_gives_the_same_report_every_tick(bench) -> None:
    first = bench.tick()
    assert first.level is SafetyLevel.OK
    assert all(bench.tick() is first for _ in range(5))


def test_faulted_drive_is_reported_in_its_own_tick_with_name_and_meaning(bench) -> None:
    bench.tick()
    bench.slaves.words[1] = FAULT
    report = bench.tick()
    assert report.level is SafetyLevel.FAULT
    assert report.flags == SafetyFlag.MOTOR_FAULT
    assert "elbow: statusword 4616 (0x1208): fault" in report.message
    assert "shoulder" not in report.message
    assert bench.tick() is report


def test_equal_faults_of_several_joints_are_reported_once(bench) -> None:
    bench.slaves.words[:] = [FAULT, FAULT]
    assert bench.tick().message.count("statusword 4616") == 1
    assert bench.tick().message.startswith("shoulder, elbow: statusword 4616 (0x1208): fault")


def test_bits_without_meaning_for_the_fault_make_no_other_report(bench) -> None:
    bench.slaves.words[1] = FAULT
    report = bench.tick()
    for bits in (0x0400, 0x4000, 0x8000, 0x0100):  # target reached, and those of the manufacturer
        bench.slaves.words[1] = FAULT | bits
        assert bench.tick() is report
    bench.slaves.words[1] = FAULT | 0x0080
    assert "the drive warns" in bench.tick().message


def test_error_code_and_history_are_reported_when_they_are_known(bench) -> None:
    bench.slaves.words[1] = FAULT
    before = bench.tick()
    bench.monitor.set_errors(1, (0xA000, 0xA000, 0x8500))
    after = bench.tick()
    assert after is not before
    assert "error 0xA000 EtherCAT communication error (history: 0xA000, 0x8500)" in after.message
    assert (before.codes, after.codes) == (
        ("DRIVE_FAULT",),
        ("DRIVE_ERROR_A000", "DRIVE_FAULT"),
    )


@pytest.mark.parametrize(
    ("code", "name"), [(0x2310, "DRIVE_ERROR_OTHER"), (0x730F, "DRIVE_ERROR_730F")]
)
def test_an_error_that_is_read_late_takes_the_place_of_the_way_to_read_it(
    bench, code: int, name: str
) -> None:
    bench.slaves.words[1] = FAULT
    bench.monitor.set_unread(1, "no answer within 100 ms")
    unread = bench.tick()
    assert unread.codes == ("DRIVE_ERROR_UNREAD", "DRIVE_FAULT")
    assert "hc sdo read 1 0x603F" in unread.message
    bench.monitor.set_errors(1, (code,))
    assert bench.tick().codes == (name, "DRIVE_FAULT")
    assert "hc sdo read" not in bench.tick().message


def test_report_is_ok_again_when_the_fault_is_gone(bench) -> None:
    bench.slaves.words[1] = FAULT
    bench.tick()
    bench.monitor.set_errors(1, (0xA000,))
    bench.slaves.words[1] = HEALTHY
    assert bench.tick().level is SafetyLevel.OK
    bench.slaves.words[1] = FAULT
    assert "0xA000" not in bench.tick().message  # the old error is not the reason of the new fault


def test_single_lost_frame_is_no_fault(bench) -> None:
    bench.tick()
    bench.slaves.counter = -1
    assert bench.tick().level is SafetyLevel.OK
    bench.slaves.counter = 6
    assert bench.tick().level is SafetyLevel.OK


@pytest.mark.parametrize(
    ("counter", "message"),
    [(-1, "the cable to the first slave, or this machine"), (3, "working counter is too low")],
)
def test_second_bad_exchange_is_a_fault(bench, counter: int, message: str) -> None:
    bench.tick()
    bench.slaves.counter = counter
    bench.tick()
    report = bench.tick()
    assert report.level is SafetyLevel.FAULT
    assert message in report.message
    assert not report.flags & SafetyFlag.RX_TIMEOUT


def test_silence_of_more_than_200_ms_raises_the_flag(bench) -> None:
    bench.slaves.counter = -1
    reports = [bench.tick() for _ in range(12)]
    assert not reports[8].flags & SafetyFlag.RX_TIMEOUT
    assert reports[11].flags & SafetyFlag.RX_TIMEOUT


def test_slave_that_left_op_is_a_fault_although_its_statusword_is_healthy(bench) -> None:
    bench.tick()
    left = AlStatus(AlState.SAFEOP, True, 0x1B, "Sync manager watchdog")
    bench.monitor.set_states([left, AlStatus(AlState.OP)])
    report = bench.tick()
    assert report.level is SafetyLevel.FAULT
    assert "slave 0 (shoulder): SAFEOP with error, AL status 0x001B" in report.message
    assert report.codes == ("AL_WATCHDOG", "SLAVE_LEFT_OP")


def test_remedy_is_reported_until_the_drive_is_healthy(bench) -> None:
    bench.slaves.words[0] = FAULT
    bench.tick()
    bench.monitor.set_remark(Reason.of(DRIVE_NOT_READY, "restart the control process"))
    assert "restart the control process" in bench.tick().message
    bench.slaves.words[0] = HEALTHY
    assert bench.tick().message == ""
