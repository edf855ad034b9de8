"""Workers, the loop's calls and the monitor work together, on a scripted bus."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.bus.bus import DataFrame, ErrorFrame, InvalidFrame
from humanoid_devices_can.bus.error_frames import BusEvent
from humanoid_devices_can.errors import AdapterLostError, InterfaceError, QueueFullError
from humanoid_devices_can.guard.channel import MEMORY_BYTES, GuardMemory, Stage
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, Feedback
from src.humanoid_devices.test.can_bench import CanRig
from src.humanoid_devices.test.stepped import SteppedTime

COMMAND, GAINS, DISABLE, ENABLE, STATUS, PREPARE, HEARTBEAT = range(7)
BROUGHT_UP = [DISABLE, *[GAINS] * 3, COMMAND, ENABLE, GAINS]


def healthy(report) -> bool:
    return report.level is SafetyLevel.OK


def kinds(bus, motor: int) -> list[int]:
    return [found >> 8 for found, _ in list(bus.sent) if found & 0xFF == motor]


def stiffness_in_force(rig: CanRig) -> float:
    """Return the stiffness of the first motor [Nm/rad]."""
    _, first, *_ = rig.system.diagnose()
    return float(first.values["stiffness in force [Nm/rad]"])


def test_motors_are_disabled_before_they_are_enabled(bus, rig) -> None:
    rig.activate()
    for motor in (1, 2):
        assert kinds(bus, motor)[:7] == BROUGHT_UP
    assert rig.state.position.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("carried", [False, True], ids=["gains apart", "gains in commands"])
def test_motors_get_zero_gains_before_they_are_enabled_and_right_after(
    bus, rig, plain, monkeypatch, carried
) -> None:
    """A motor may have the gains and the set point of an earlier run."""
    if carried:
        monkeypatch.setattr(plain.build, "gains", lambda *_: [])
    rig.activate()
    for motor in (1, 2):
        sent = [frame for frame in list(bus.sent) if frame[0] & 0xFF == motor]
        command = (COMMAND << 8 | motor, b"0.00")
        limp = command if carried else (GAINS << 8 | motor, b"0.00")
        at = sent.index((ENABLE << 8 | motor, b""))
        assert sent[at - 4 : at + 2] == [*[limp] * 3, command, sent[at], limp]


def test_interface_that_can_not_be_opened_is_reported(rig) -> None:
    def refuse(_):
        raise InterfaceError("can2: down")

    rig.open_bus = refuse
    with pytest.raises(HardwareError, match="can2: down"):
        rig.activate()
    with pytest.raises(HardwareError, match="Wrists is not active"):
        rig.tick()
    rig.deactivate()  # nothing to do


def test_bus_is_closed_when_activation_fails(bus, rig) -> None:
    bus.deaf = {2}
    with pytest.raises(HardwareError, match=r"j1 \(id 2\): no answer within 0.2 s"):
        rig.activate()
    assert bus.closed
    assert kinds(bus, 1)[-1] == DISABLE


def test_motor_that_refuses_a_setting_is_not_enabled(bus, rig, plain, monkeypatch) -> None:
    """The motor does not accept a setting, for example a limit of its firmware."""

    def preparing(family, motor: int) -> list[Exchange]:
        answer = STATUS << 8 | family.ids[motor]
        request = ((PREPARE << 8 | family.ids[motor], b""),)

        def step(refusal: str) -> Exchange:
            return Exchange(motor, request, lambda found, _: refusal if found == answer else None)

        return [step("keeps another limit" if motor == 1 else ""), step("")]

    monkeypatch.setattr(plain.build, "preparing", preparing)
    with pytest.raises(HardwareError, match=r"j1 \(id 2\): keeps another limit"):
        rig.activate()
    for motor in (1, 2):
        assert ENABLE not in kinds(bus, motor)
        assert kinds(bus, motor)[-1] == DISABLE


def test_adapter_lost_while_activating_is_reported(bus, rig) -> None:
    bus.deaf = {1, 2}
    bus.unplug()
    with pytest.raises(HardwareError, match="scripted: gone"):
        rig.activate()


def test_motors_are_ordered_off_when_only_receiving_fails_while_activating(bus, rig) -> None:
    bus.breaks_at = ENABLE
    with pytest.raises(HardwareError, match="scripted: gone"):
        rig.activate()
    assert bus.closed
    assert kinds(bus, 1)[-1] == kinds(bus, 2)[-1] == DISABLE


def test_lower_stiffness_goes_out_before_its_command_and_higher_after(bus, rig) -> None:
    rig.activate()

    def sent_for(stiffness: float, position: float) -> list[tuple[int, bytes]]:
        rig.command.stiffness[:], rig.command.position[:] = stiffness, position
        expected = f"{stiffness:.2f}".encode(), f"{position:.2f}".encode()
        rig.until(lambda _: (GAINS << 8 | 1, expected[0]) in list(bus.sent)
                  and (COMMAND << 8 | 1, expected[1]) in list(bus.sent))  # fmt: skip
        return [f for f in list(bus.sent) if f[0] & 0xFF == 1 and f[1] in expected]

    stiffer = sent_for(20.0, 1.5)
    assert [frame[0] >> 8 for frame in stiffer[:2]] == [COMMAND, GAINS]
    softer = sent_for(5.0, 2.5)
    assert [frame[0] >> 8 for frame in softer[:2]] == [GAINS, COMMAND]


LEVELS = [(stiffness, damping) for stiffness in (0.0, 2.0, 5.0) for damping in (0.0, 1.0, 3.0)]


@pytest.mark.parametrize("old", LEVELS)
def test_no_gain_is_ever_above_the_one_that_its_command_was_meant_for(
    bus, rig, plain, monkeypatch, old: tuple[float, float]
) -> None:
    """A fall raises the damping and withdraws the velocity: the velocity goes first."""

    def gains(family, command: JointCommand) -> list[tuple[int, bytes]]:
        rows = zip(family.ids, command.stiffness, command.damping, strict=True)
        return [(GAINS << 8 | id_, f"{kp:.2f} {kd:.2f}".encode()) for id_, kp, kd in rows]

    monkeypatch.setattr(plain.build, "gains", gains)
    rig.activate()

    def frames_until(level: tuple[float, float], position: float) -> list[tuple[int, list[float]]]:
        began = len(bus.sent)
        rig.command.stiffness[:], rig.command.damping[:] = level
        rig.command.position[:] = position
        end = (GAINS << 8 | 1, f"{level[0]:.2f} {level[1]:.2f}".encode())
        command = (COMMAND << 8 | 1, f"{position:.2f}".encode())
        rig.until(lambda _: command in bus.sent[began:] and at_last() == end)
        mine = [frame for frame in bus.sent[began:] if frame[0] & 0xFF == 1]
        return [(number >> 8, [float(text) for text in data.split()]) for number, data in mine]

    def at_last() -> tuple[int, bytes]:
        return [frame for frame in bus.sent if frame[0] == GAINS << 8 | 1][-1]

    for new in LEVELS:
        frames_until(old, 1.0)
        in_force, meant = list(old), old
        for kind, values in frames_until(new, 2.0):
            if kind == COMMAND and values == [2.0]:
                meant = new
            elif kind == GAINS:
                in_force = values
            assert np.all(np.array(in_force) <= meant), f"{old} -> {new}: {in_force}"


def test_motor_that_was_enabled_anew_counts_as_soft(bus, rig) -> None:
    rig.activate()
    rig.command.stiffness[:] = 20.0
    rig.until(lambda _: (GAINS << 8 | 1, b"20.00") in list(bus.sent))
    rig.until(lambda _: stiffness_in_force(rig) == 20.0)
    rig.deactivate()
    rig.activate()
    began = len(bus.sent)
    rig.command.stiffness[:], rig.command.position[:] = 5.0, 1.5
    command, gains = (COMMAND << 8 | 1, b"1.50"), (GAINS << 8 | 1, b"5.00")
    rig.until(lambda _: gains in list(bus.sent)[began:])
    assert command in bus.sent[began : bus.sent.index(gains, began)]


def test_changed_gains_are_sent_for_a_while_in_every_tick(bus, rig) -> None:
    rig.activate()
    rig.until(lambda _: kinds(bus, 2).count(COMMAND) > 5)
    bus.sent.clear()
    rig.command.stiffness[:] = 3.0
    rig.until(lambda _: kinds(bus, 2).count(COMMAND) > 0.45 / rig.period)
    assert kinds(bus, 2).count(GAINS) == pytest.approx(0.2 / rig.period, abs=2)


def test_gains_that_could_not_be_sent_are_sent_later(bus, rig) -> None:
    rig.activate()
    bus.refusal = QueueFullError("full")
    rig.command.stiffness[:] = 3.0
    rig.until(lambda report: report.flags & SafetyFlag.TX_QUEUE_OVERRUN)
    assert (GAINS << 8 | 1, b"3.00") not in bus.sent
    bus.refusal = None
    rig.until(lambda _: (GAINS << 8 | 1, b"3.00") in list(bus.sent))


def test_queue_that_never_drains_is_an_overrun_and_passes(bus, rig) -> None:
    rig.activate()
    rig.until(healthy)
    bus.refusal = QueueFullError("full")
    report = rig.until(lambda report: report.flags & SafetyFlag.TX_QUEUE_OVERRUN)
    assert report.level is SafetyLevel.FAULT
    assert "commands don't get out on virtual nowhere" in report.message
    before = len(bus.sent)
    for position in range(100, 200):
        rig.command.position[:] = position
        rig.tick()
    bus.refusal = None
    rig.until(healthy)
    late = [text for found, text in bus.sent[before:] if found >> 8 == COMMAND]
    assert set(late) <= {b"199.00", b"0.00"}  # the newest frame, and the frame already being sent


def test_motor_that_answers_nothing_any_more_is_silent(bus, rig) -> None:
    rig.activate()
    rig.until(healthy)
    bus.deaf = {2}
    report = rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    assert report.level is SafetyLevel.FAULT
    assert report.message == "j1 (id 2): silent: motor off? reset by itself? cable?"
    bus.deaf = set()
    rig.until(healthy)


def test_silent_motor_is_detected_on_a_busy_bus(bus, rig) -> None:
    rig.activate()
    rig.until(healthy)
    bus.noisy = True
    bus.deaf = {2}
    report = rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    assert "j1 (id 2): silent" in report.message
    assert "j0" not in report.message


@pytest.fixture
def beating(monkeypatch: pytest.MonkeyPatch, plain: FamilyKind) -> int:
    """Return the kind of a motor's heartbeat, which has no measurement."""
    decode = plain.build.decode

    def decoded(family, identifier: int, payload: bytes) -> Feedback:
        if identifier >> 8 == HEARTBEAT:
            return Feedback(motor=family.ids.index(identifier & 0xFF), enabled=True)
        return decode(family, identifier, payload)

    monkeypatch.setattr(plain.build, "decode", decoded)
    return HEARTBEAT


def test_motor_that_sends_heartbeats_only_is_a_fault(bus, rig, beating) -> None:
    """Its position is an old one, although frames of it arrive."""
    rig.activate()
    rig.until(healthy)
    bus.deaf = {2}

    def faulty(report) -> bool:
        bus.put(DataFrame(beating << 8 | 2, b""))
        return report.level is SafetyLevel.FAULT

    report = rig.until(faulty)
    assert report.message.startswith("j1 (id 2): sends frames, but not both position and velocity")
    assert report.codes == ("HALF_FEEDBACK",)
    bus.deaf = set()
    rig.until(healthy)


def test_motor_may_send_heartbeats_beside_its_answers(bus, rig, beating) -> None:
    rig.activate()
    for _ in range(400):
        bus.put(DataFrame(beating << 8 | 2, b""))
        assert healthy(rig.run(rig.period))


def test_motor_may_answer_frames_of_gains(bus, rig) -> None:
    rig.activate()
    rig.command.position[:] = 0.5  # as measured: no effort is expected
    for stiffness in range(1, 10):  # gains go out in every tick after a change
        rig.command.stiffness[:] = stiffness
        assert healthy(rig.run(0.2))


@pytest.mark.parametrize("value", [b"nan", b"inf"])
def test_measurement_that_is_no_number_is_not_used_and_a_fault_if_it_stays(bus, rig, value) -> None:
    """The joint would keep its last position, with a new time."""
    rig.activate()
    rig.until(healthy)
    bus.put(DataFrame(STATUS << 8 | 2, value))
    report = rig.run(2 * rig.period)
    assert report.level is SafetyLevel.WARNING
    assert f"j1 (id 2) measures {value.decode()} rad, 0.0 rad/s, 0.0 Nm" in report.message
    bus.measured[2] = value
    report = rig.until(lambda report: report.level is SafetyLevel.FAULT)
    assert "j1 (id 2): silent" in report.message
    assert rig.state.position.tolist() == [0.5, 0.5]
    bus.measured[2] = b"0.5"
    rig.until(healthy)


def test_lost_adapter_is_reported_and_never_raised(bus, rig) -> None:
    rig.activate()
    rig.command.position[:] = 1.0
    bus.unplug()
    report = rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    assert report.level is SafetyLevel.FAULT
    assert report.message == "scripted: gone; then clear the fault"
    assert rig.state.position.tolist() == [0.5, 0.5]
    with pytest.raises(HardwareError, match=r"not disabled: j0 \(id 1\), j1 \(id 2\)"):
        rig.deactivate()
    assert bus.closed


@pytest.mark.parametrize("broken", [AdapterLostError("gone"), ZeroDivisionError("ours")])
def test_motors_are_ordered_off_at_the_end_though_nothing_is_received(bus, rig, broken) -> None:
    rig.activate()
    bus.broken = broken
    rig.pause(1.0)  # the loop is late: a thread finds it first
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    with pytest.raises(HardwareError, match="not disabled"):
        rig.deactivate()
    assert kinds(bus, 1)[-1] == kinds(bus, 2)[-1] == DISABLE


def test_lost_adapter_is_opened_anew_on_reset(bus, rig) -> None:
    rig.activate()
    bus.unplug()
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    rig.buses.append(bus.another())
    rig.command.stiffness[:] = 4.0
    rig.system.reset_faults()
    rig.until(healthy)
    assert bus.closed
    assert kinds(rig.buses[-1], 1)[0] == DISABLE
    rig.until(lambda _: (GAINS << 8 | 1, b"4.00") in list(rig.buses[-1].sent))


class ScriptedGuard:
    """A guard with a scripted stage; at its end this is `last`."""

    def __init__(self) -> None:
        self.memory = GuardMemory(bytearray(MEMORY_BYTES))
        self.last: Stage | None = None

    def end(self) -> None:
        if self.last is not None:
            self.memory.set_stage(self.last, 2.0)


@pytest.fixture
def guard_page(rig: CanRig) -> GuardMemory:
    """The memory of the guard of an active rig."""
    rig.activate()
    rig.until(healthy)
    own, guard = rig.system._lifecycle.guard, ScriptedGuard()
    own._running, own._started = guard, rig.time.clock()  # it has 5 s to start
    return guard.memory


def soft(bus, motor: int) -> bool:
    """Return True if the motor got a stiffness and then none."""
    gains = [text for found, text in list(bus.sent) if found == GAINS << 8 | motor]
    return b"3.00" in gains and gains[-1] == b"0.00"


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (Stage.ACTS, "the guard is disabling j0 (id 1), j1 (id 2): the control loop stood still"),
        (Stage.FAILED, "the guard could not disable j0 (id 1), j1 (id 2): the control loop stood"),
    ],
)
def test_motors_that_are_not_disabled_go_on_being_commanded(
    bus, rig, guard_page, stage, message
) -> None:
    rig.command.stiffness[:] = 3.0
    rig.until(lambda _: (GAINS << 8 | 1, b"3.00") in list(bus.sent))
    guard_page.set_stage(stage, rig.time.clock())
    report = rig.tick()
    assert (report.level, report.flags) == (SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT)
    assert report.message.startswith(message)
    rig.command.stiffness[:] = 0.0  # as the loop does after a FAULT
    rig.until(lambda _: soft(bus, 1) and soft(bus, 2))
    rig.buses.clear()  # the bus is not opened again
    rig.deactivate()
    assert kinds(bus, 1)[-1] == kinds(bus, 2)[-1] == DISABLE


def test_guard_that_comes_to_its_end_after_all_has_disabled_the_motors(bus, rig, guard_page):
    for stage in (Stage.ACTS, Stage.FAILED, Stage.ACTS):
        guard_page.set_stage(stage, rig.time.clock())
        rig.tick()
    guard_page.set_stage(Stage.DONE, rig.time.clock())
    report = rig.tick()
    assert report.message.startswith("j0 (id 1), j1 (id 2): disabled by the guard: the control")
    for thread in rig.system._lifecycle.session._threads:
        rig.call(thread.join)  # no further report
    rig.buses.append(bus.another())
    rig.deactivate()
    assert kinds(rig.buses[-1], 1) == kinds(rig.buses[-1], 2) == [DISABLE]


def test_guard_at_work_is_waited_for_before_the_motors_are_disabled(bus, rig, guard_page) -> None:
    guard_page.set_stage(Stage.ACTS, rig.time.clock())
    rig.tick()
    rig.system._lifecycle.guard._running.last = Stage.DONE
    rig.buses.append(bus.another())
    rig.deactivate()
    assert DISABLE not in kinds(bus, 1)[1:]  # the first was for being enabled
    assert kinds(rig.buses[-1], 1) == kinds(rig.buses[-1], 2) == [DISABLE]


def test_faults_are_not_cleared_while_the_guard_acts(bus, rig, guard_page) -> None:
    guard_page.set_stage(Stage.ACTS, rig.time.clock())
    rig.tick()
    rig.buses.append(bus.another())
    rig.call(rig.system.reset_faults)
    assert rig.system._lifecycle.paused == frozenset()
    report = rig.run(0.1)
    assert report.message.startswith("not enabled again: the guard is disabling the motors")
    assert kinds(rig.buses[-1], 1) == []
    guard_page.set_stage(Stage.FAILED, rig.time.clock())
    rig.call(rig.system.reset_faults)
    rig.until(healthy)


def test_clearing_the_fault_is_what_ends_a_guard_that_failed(bus, rig, guard_page) -> None:
    guard_page.set_stage(Stage.FAILED, rig.time.clock())
    rig.until(lambda report: report.level is SafetyLevel.FAULT)
    rig.buses.append(bus.another())
    rig.system.reset_faults()
    rig.until(healthy)
    assert bus.closed
    assert kinds(rig.buses[-1], 2)[:7] == BROUGHT_UP


def test_reopening_that_fails_is_a_fault_and_each_reset_tries_again(bus, rig, guard_page) -> None:
    guard_page.set_stage(Stage.FAILED, rig.time.clock())  # a working bus is opened again, too
    rig.tick()
    opens, tries = rig.open_bus, []

    def refuse(_):
        tries.append(1)
        raise InterfaceError("can2: another program uses it")

    rig.open_bus = refuse
    for count in (1, 2):
        rig.system.reset_faults()
        report = rig.run(1.0)
        assert len(tries) == count
        assert report.level is SafetyLevel.FAULT
        assert report.flags == SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT
        assert "not enabled again: can2: another program uses it" in report.message
    rig.buses.append(bus.another())
    rig.open_bus = opens
    rig.system.reset_faults()
    rig.until(healthy)
    assert kinds(rig.buses[-1], 2)[:7] == BROUGHT_UP


def test_deactivation_enables_no_motor_even_on_a_bus_that_is_opened_again(bus, rig) -> None:
    rig.activate()
    bus.unplug()
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    rig.buses.append(bus.another())
    rig.system.reset_faults()  # the next step opens the bus
    rig.deactivate()
    assert set(kinds(rig.buses[-1], 1)) == set(kinds(rig.buses[-1], 2)) == {DISABLE}


def test_bus_that_is_back_at_the_end_is_opened_anew_to_disable_the_motors(bus, rig) -> None:
    rig.activate()
    bus.unplug()
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    rig.buses.append(bus.another())
    rig.deactivate()
    assert kinds(rig.buses[-1], 1) == kinds(rig.buses[-1], 2) == [DISABLE]
    assert rig.buses[-1].closed


@contextmanager
def no_thread_to_be_had() -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as short:
        short.setattr(SteppedTime, "start", refuse)
        yield


def test_thread_that_can_not_be_started_leaves_the_motors_commanded(bus, rig) -> None:
    rig.activate()
    rig.until(healthy)
    bus.deaf = {2}
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    with no_thread_to_be_had():
        rig.system.reset_faults()
    report = rig.until(lambda report: "not enabled again" in report.message)
    assert "can't start new thread" in report.message
    before = kinds(bus, 2).count(COMMAND)
    rig.until(lambda _: kinds(bus, 2).count(COMMAND) > before + 5)
    bus.deaf = set()
    rig.system.reset_faults()
    rig.until(healthy)
    rig.deactivate()
    assert kinds(bus, 1)[-1] == DISABLE


def test_motors_are_disabled_though_the_reopening_thread_never_began(bus, rig) -> None:
    rig.activate()
    rig.until(healthy)
    bus.put(ErrorFrame(BusEvent.BUS_OFF, bytes(8)))
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    with no_thread_to_be_had():
        rig.system.reset_faults()
    rig.deactivate()
    assert kinds(bus, 1)[-1] == kinds(bus, 2)[-1] == DISABLE


def test_lack_of_resources_while_reopening_is_reported(bus, rig) -> None:
    def short(_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    rig.activate()
    bus.unplug()
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    opens = rig.open_bus
    rig.open_bus = short
    rig.system.reset_faults()
    rig.until(lambda report: "not enabled again: OSError(24" in report.message)
    rig.buses.append(bus.another())
    rig.open_bus = opens
    rig.until(lambda _: not rig.system._lifecycle._recovery.is_alive())
    rig.system.reset_faults()
    rig.until(healthy)


def test_reset_leaves_healthy_motors_alone(bus, rig) -> None:
    rig.activate()
    bus.deaf = {2}
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    bus.deaf = set()
    disabled = kinds(bus, 1).count(DISABLE)
    rig.system.reset_faults()
    rig.until(healthy)
    assert kinds(bus, 1).count(DISABLE) == disabled


def test_reset_without_a_fault_does_nothing(bus, rig) -> None:
    rig.activate()
    rig.until(healthy)
    orders = [k for k in kinds(bus, 1) if k in (DISABLE, ENABLE)]
    rig.system.reset_faults()
    rig.until(lambda _: kinds(bus, 1).count(COMMAND) > 10)
    assert [k for k in kinds(bus, 1) if k in (DISABLE, ENABLE)] == orders


def test_mistake_in_a_thread_is_a_fault_and_not_silence(bus, rig) -> None:
    rig.activate()
    bus.broken = ZeroDivisionError("ours")
    rig.pause(1.0)  # the loop is late: the thread finds it first
    report = rig.until(lambda report: report.level is SafetyLevel.FAULT)
    assert "the thread that serves the bus failed: ZeroDivisionError" in report.message


def test_bus_off_stays_until_reset_and_gains_are_sent_again_after_a_restart(bus, rig) -> None:
    rig.activate()
    rig.command.stiffness[:] = 3.0
    rig.until(lambda _: (GAINS << 8 | 1, b"3.00") in list(bus.sent))
    bus.put(ErrorFrame(BusEvent.BUS_OFF, bytes(8)))
    report = rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    assert "bus-off on virtual nowhere: is 1000000 bit/s" in report.message
    sent = list(bus.sent).count((GAINS << 8 | 1, b"3.00"))
    bus.put(ErrorFrame(BusEvent.RESTARTED, bytes(8)))
    rig.until(lambda _: list(bus.sent).count((GAINS << 8 | 1, b"3.00")) > sent)
    assert rig.tick().flags & SafetyFlag.BUS_OFF
    rig.system.reset_faults()
    rig.until(healthy)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (ErrorFrame(BusEvent.CONTROLLER, bytes([0, 0x20])), "no node acknowledges"),
        (
            ErrorFrame(BusEvent.NO_ACKNOWLEDGE | BusEvent.BUS_ERROR, bytes(8)),
            "no node acknowledges",
        ),
        (ErrorFrame(BusEvent.PROTOCOL, bytes(8)), "do two motors have the same id"),
        (InvalidFrame("standard"), "standard"),
    ],
)
def test_trouble_on_the_bus_is_a_warning_while_motors_answer(bus, rig, frame, message) -> None:
    rig.activate()
    bus.put(frame)
    report = rig.until(lambda report: message in report.message)
    assert report.level is SafetyLevel.WARNING


def test_adapter_that_goes_on_refusing_frames_is_a_warning(bus, rig) -> None:
    rig.activate()

    ticks = 0

    def refused(report) -> bool:
        nonlocal ticks
        # 50 times a second: every refusal repeats the gains, which this family answers.
        if ticks % round(0.02 / rig.period) == 0:
            bus.put(ErrorFrame(BusEvent.CONTROLLER, bytes([0, 0x02])))
        ticks += 1
        return bool(report.flags & SafetyFlag.TX_QUEUE_OVERRUN)

    report = rig.until(refused)
    assert report.level is SafetyLevel.WARNING
    assert "the adapter refuses frames" in report.message


def test_gains_are_sent_again_after_a_refusal(bus, rig) -> None:
    rig.activate()
    rig.command.stiffness[:] = 3.0
    rig.until(lambda _: (GAINS << 8 | 1, b"3.00") in list(bus.sent))
    rig.until(healthy)
    sent = list(bus.sent).count((GAINS << 8 | 1, b"3.00"))
    bus.put(ErrorFrame(BusEvent.CONTROLLER, bytes([0, 0x02])))
    rig.until(lambda _: list(bus.sent).count((GAINS << 8 | 1, b"3.00")) > sent)


def test_report_stays_the_same_object_while_nothing_changes(bus, rig) -> None:
    rig.activate()
    bus.deaf = {2}
    report = rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    for _ in range(20):
        assert rig.tick() is report


def test_error_frames_alone_suggest_the_wrong_bitrate(bus, rig) -> None:
    bus.deaf = {1, 2}
    bus.put(ErrorFrame(BusEvent.PROTOCOL | BusEvent.BUS_ERROR, bytes(8)))
    with pytest.raises(HardwareError, match=r"only error frames arrive.*motors' bitrate"):
        rig.activate()


def test_missing_motor_is_reported_with_the_other_ids_received(bus, rig) -> None:
    bus.deaf = {2}
    bus.put(InvalidFrame("id 3 is no motor of this block"))
    with pytest.raises(HardwareError, match=r"j1 \(id 2\): no answer.*received on the bus: id 3"):
        rig.activate()


def test_gains_beyond_the_wire_are_refused(rig) -> None:
    with pytest.raises(ConfigError, match=r"standby: stiffness is 101 Nm/rad, but j0 \(plain\)"):
        rig.system.check_gains(101.0, 1.0, "standby")


def test_effort_limit_is_the_lower_one_and_stays_the_same_array(rig) -> None:
    limit = rig.system.effort_limit(rig.state.position)
    assert limit.tolist() == [5.0, 5.0]
    assert rig.system.effort_limit(rig.state.position) is limit


def test_a_fast_loop_does_the_io_in_its_own_thread(bus, rig) -> None:
    """The command is on the bus when `write` returns, and the answer in the next `read`."""
    rig.activate()
    rig.run(0.2)
    rig.command.position[:] = 0.25
    before = len(bus.sent)
    rig.tick()
    sent = [frame for frame in bus.sent[before:] if frame[0] >> 8 == COMMAND]
    assert sent == ([(1, b"0.25"), (2, b"0.25")] if rig.period < 0.005 else [])


def test_command_that_was_refused_is_sent_before_the_next_tick(bus, rig) -> None:
    rig.activate()
    rig.run(0.2)
    bus.refusal = QueueFullError("full")
    rig.command.position[:] = 0.25
    rig.tick()
    bus.refusal = None
    before = len(bus.sent)
    rig.pause(0.0035)
    sent = [frame for frame in bus.sent[before:] if frame[0] >> 8 == COMMAND]
    assert sent == [(1, b"0.25"), (2, b"0.25")]


def test_the_threads_receive_at_once_when_the_loop_has_ended(bus, rig) -> None:
    rig.activate()
    rig.run(0.2)
    rig.tick()
    rig.system.loop_ended()
    bus.put(InvalidFrame("late"))
    rig.pause(0.0005)
    assert rig.system._lifecycle.session.health.invalid == "late"


def test_the_threads_take_over_when_the_loop_has_ended(bus, rig) -> None:
    rig.activate()
    rig.run(0.2)
    rig.system.loop_ended()
    before = len(bus.sent)
    rig.pause(0.3)
    limp = [payload for found, payload in bus.sent[before:] if found >> 8 == COMMAND]
    assert len(limp) >= 8
    assert set(limp) == {b"0.50"}
    rig.deactivate()
    for motor in (1, 2):
        assert DISABLE in kinds(bus, motor)[-2:]


def test_the_threads_take_over_from_a_loop_that_stands_still(bus, rig) -> None:
    """Waiting frames are sent, and arriving frames are received."""
    rig.activate()
    rig.run(0.2)
    session = rig.system._lifecycle.session
    rig.pause(0.1)
    drained = session.health.drained
    bus.put(InvalidFrame("late"))
    rig.pause(0.1)
    assert session.health.invalid == "late"
    assert session.health.drained > drained
