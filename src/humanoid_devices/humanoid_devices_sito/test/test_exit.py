"""The exit of motors without a watchdog: confirmations are true; the guard disables the others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.rules.reason_codes import NO_GUARD
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_devices_can.bus.bus import Bus, BusSettings, CanFrame, DataFrame, Received
from humanoid_devices_can.errors import AdapterLostError, InterfaceError, QueueFullError
from humanoid_devices_can.guard.channel import Stage
from humanoid_devices_can.guard.claim import claim
from humanoid_devices_can.guard.guard_client import READY
from humanoid_devices_can.reason_codes import DISABLED_BY_GUARD
from humanoid_devices_can.session import bus_lifecycle
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.codec import MessageType, identifier
from humanoid_devices_sito.sito_system import SitoSystem
from humanoid_stepped.can_guard import SteppedGuard
from humanoid_stepped.scheduler import NEVER
from src.humanoid_devices.humanoid_devices_sito.test.test_held_up_adapter import HeldUpBus
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
Wrap = Callable[[Bus, CanBench], Bus]
Stiff = Callable[..., tuple[CanBench, CanRig]]


@pytest.fixture
def stiff(
    can_bench: MakeBench,
    can_info: MakeInfo,
    can_rig: MakeRig,
    monkeypatch: pytest.MonkeyPatch,
) -> Stiff:
    """The four wrists, stiff, with a guard; `wrap` makes the bus of the component."""

    def make(wrap: Wrap = lambda bus, _: bus) -> tuple[CanBench, CanRig]:
        monkeypatch.setattr(bus_lifecycle, "needs_guard", lambda *_: True)
        bench = can_bench("sito", "TA40-50", IDS)

        def open_bus(settings: BusSettings) -> Bus:
            return wrap(bench.host.open_bus(settings), bench)

        system = SitoSystem(Timing(), replace(bench.host, open_bus=open_bus))
        rig = can_rig(system, can_info(IDS, "TA40-50", channel=bench.address), bench.time)
        rig.activate()
        rig.command.stiffness[:] = 20.0
        rig.run(0.5)
        assert enabled(bench) == IDS
        return bench, rig

    return make


def enabled(bench: CanBench) -> list[int]:
    return [id_ for id_ in IDS if bench.drive(id_)["firmware"]["enabled"]]


def cut(bench: CanBench, *ids: int) -> None:
    """Cut the cable to motors, which keep their power."""
    for id_ in ids:
        bench.call("cut", id_)


def end(rig: CanRig) -> None:
    rig.call(rig.system.loop_ended)
    rig.deactivate()


def forget(rig: CanRig) -> None:
    """Drop the session, which could not be deactivated."""
    rig.system._lifecycle.session = None


@pytest.mark.parametrize("before", [0.1, 0.18, 0.3])
def test_a_motor_that_has_sent_nothing_before_is_not_reported_as_disabled(
    stiff: Stiff, before: float
) -> None:
    bench, rig = stiff()
    cut(bench, 39)
    rig.run(before)
    with pytest.raises(HardwareError, match=r"not confirmed that it is disabled: j3 \(id 39\)"):
        end(rig)
    assert enabled(bench) == [39]


def test_a_motor_that_was_heard_before_the_receiver_was_held_up_is_not_called_disabled(
    stiff: Stiff,
) -> None:
    bench, rig = stiff()
    rig.call(rig.system.loop_ended)
    session = rig.system._active()
    session.leaves_frames = lambda: True
    cut(bench, 39)
    rig.pause(0.5)
    session.leaves_frames = lambda: False
    with pytest.raises(HardwareError, match=r"not confirmed that it is disabled: j3 \(id 39\)"):
        rig.deactivate()
    assert enabled(bench) == [39]


def test_a_bus_that_fails_at_the_exit_proves_nothing(stiff: Stiff) -> None:
    bench, rig = stiff()
    cut(bench, *IDS)
    with pytest.raises(HardwareError, match=r"not confirmed .*j0 \(id 22\).*j3 \(id 39\)"):
        end(rig)
    assert enabled(bench) == IDS


def test_an_adapter_that_is_held_up_at_the_exit_is_waited_for(stiff: Stiff) -> None:
    opened: list[HeldUpBus] = []

    def wrap(bus: Bus, bench: CanBench) -> Bus:
        assert bench.time is not None
        opened.append(HeldUpBus(bus, bench.time, losing=0))
        opened[-1]._ends = 0.0  # not now
        return opened[-1]

    bench, rig = stiff(wrap)
    opened[-1]._ends = float("-inf")  # from the next RESET on
    end(rig)
    assert enabled(bench) == []


def test_an_adapter_that_was_held_up_before_the_exit_is_waited_for(stiff: Stiff) -> None:
    opened: list[HeldUpBus] = []

    def wrap(bus: Bus, bench: CanBench) -> Bus:
        assert bench.time is not None
        opened.append(HeldUpBus(bus, bench.time, losing=0))
        opened[-1]._ends = 0.0
        return opened[-1]

    bench, rig = stiff(wrap)
    assert bench.time is not None
    opened[-1]._ends = bench.time.clock() + 0.2
    rig.run(0.1)  # silence of twice the time after which it counts as obedience
    end(rig)
    assert enabled(bench) == []


@pytest.mark.parametrize("before", [0.0, 0.03])
def test_an_exit_ends_after_a_long_hold_up_of_the_adapter(stiff: Stiff, before: float) -> None:
    bench, rig = stiff()
    rig.call(rig.system.loop_ended)
    bench.call("hold_up", before + 0.6)  # longer than the silence by which motors obey
    rig.pause(before)
    rig.deactivate()
    assert enabled(bench) == []


def test_an_exit_confirms_nothing_while_the_adapter_is_held_up(stiff: Stiff) -> None:
    bench, rig = stiff()
    rig.call(rig.system.loop_ended)
    bench.call("hold_up", 3.0)
    with pytest.raises(HardwareError, match=r"not confirmed .*j0 \(id 22\).*j3 \(id 39\)"):
        rig.deactivate()
    assert enabled(bench) == IDS


def test_a_guard_knows_whether_the_adapter_has_confirmed_for_its_control_process(
    stiff: Stiff,
) -> None:
    _, rig = stiff()
    assert rig.system._lifecycle.guard._job.confirms
    end(rig)


def test_errors_on_the_bus_at_the_exit_leave_nothing_proved(stiff: Stiff) -> None:
    bench, rig = stiff()
    rig.call(rig.system.loop_ended)
    bench.call("corrupt_next", 3)
    with pytest.raises(HardwareError, match=r"j3 \(id 39\): silent, but the bus had errors"):
        rig.deactivate()
    assert enabled(bench) == []


class OneWay(Bus):
    """Loses the first RESET to a motor, and all later frames of the motor."""

    def __init__(self, bus: Bus, id_: int) -> None:
        self._bus, self._reset = bus, identifier(id_, MessageType.RESET)
        self._armed, self._lost = False, False
        self.state, self.refused, self.close = bus.state, bus.refused, bus.close

    def arm(self) -> None:
        """Begin with the next RESET."""
        self._armed = True

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        received = self._bus.receive(timeout)
        own = isinstance(received, DataFrame) and received.identifier >> 8 == self._reset >> 8
        return None if self._lost and own else received

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        if self._armed and not self._lost and frame[0] == self._reset:
            self._lost = True
        else:
            self._bus.send(frame)


def test_a_motor_that_sends_nothing_any_more_gets_the_order_again(stiff: Stiff) -> None:
    opened: list[OneWay] = []

    def wrap(bus: Bus, _: CanBench) -> Bus:
        opened.append(OneWay(bus, 39))
        return opened[-1]

    bench, rig = stiff(wrap)
    opened[-1].arm()
    end(rig)
    assert enabled(bench) == []


def test_silence_from_before_is_no_proof_for_the_guard(stiff: Stiff) -> None:
    bench, rig = stiff()
    cut(bench, 39)
    rig.until(lambda report: "j3 (id 39): silent" in report.message)
    bench.hold_up(1.0)
    report = rig.run(0.1)
    assert "j0 (id 22), j1 (id 23), j2 (id 38): disabled by the guard" in report.message
    assert "j3 (id 39): silent before, may be enabled" in report.message
    assert enabled(bench) == [39]
    with pytest.raises(HardwareError, match=r"disabled: j3 \(id 39\): was silent before"):
        end(rig)


def test_a_diagnosis_while_the_loop_stands_still_leaves_the_guards_proof_alone(
    stiff: Stiff,
) -> None:
    _, rig = stiff()
    rig.pause(1.0)
    rig.call(rig.system.diagnose)
    assert "silent before" not in rig.run(0.1).message
    end(rig)


def test_motors_that_obey_the_guard_before_another_one_are_not_silent_before_it(
    stiff: Stiff,
) -> None:
    bench, rig = stiff()
    bench.call("ignore_frames", 39)
    rig.pause(0.3)
    rig.until(lambda report: "the guard is disabling" in report.message)
    rig.run(0.3)  # the others have been silent for longer than a motor may be
    bench.call("ignore_frames", 39, False)
    report = rig.until(lambda report: "disabled by the guard" in report.message)
    assert "silent before" not in report.message
    end(rig)


@pytest.mark.parametrize("after", [0.0, 0.03, 0.1])
def test_a_process_that_stands_still_after_the_loops_end_leaves_no_motor_stiff(
    stiff: Stiff, after: float
) -> None:
    bench, rig = stiff()
    rig.call(rig.system.loop_ended)
    rig.pause(after)
    bench.hold_up(1.0)
    springs = [bench.drive(id_)["firmware"]["stiffness"] for id_ in enabled(bench)]
    assert not any(springs)
    with suppress(HardwareError):
        rig.deactivate()
    assert enabled(bench) == []


def test_guard_disables_the_motors_that_an_exit_could_not_disable(stiff: Stiff) -> None:
    bench, rig = stiff()
    bench.call("unplug")
    rig.run(0.3)
    with pytest.raises(HardwareError, match="not disabled"):
        end(rig)
    bench.call("plug_in")
    rig.pause(1.0)
    assert enabled(bench) == []


def test_guard_disables_a_motor_that_confirmed_nothing_at_the_exit(stiff: Stiff) -> None:
    bench, rig = stiff()
    cut(bench, 39)
    rig.run(0.1)
    with pytest.raises(HardwareError, match=r"not confirmed that it is disabled: j3 \(id 39\)"):
        end(rig)
    assert enabled(bench) == [39]
    bench.call("mend", 39)
    rig.pause(1.0)
    assert enabled(bench) == []


def test_after_an_exit_that_all_motors_confirmed_no_guard_acts(stiff: Stiff) -> None:
    _, rig = stiff()
    running = rig.system._lifecycle.guard._running
    assert isinstance(running, SteppedGuard)
    end(rig)
    rig.pause(0.1)
    assert running.memory.stage is Stage.WATCHES
    assert running.process.gone


@pytest.mark.parametrize("stopped", [False, True])
def test_an_exit_that_fails_without_a_guard_starts_another(stiff: Stiff, stopped: bool) -> None:
    bench, rig = stiff()
    running = rig.system._lifecycle.guard._running
    assert isinstance(running, SteppedGuard)
    assert bench.time is not None
    if stopped:
        running.process.held_until = NEVER
    else:
        running.process.killed = True
    report = rig.run(1.2)
    assert "no guard on" in report.message
    for id_ in IDS:
        bench.call("freeze", id_)  # the exit reaches no motor
    soon = bench.time.scheduler.now + 100_000_000  # [ns]
    bench.time.scheduler.call_at(soon, lambda: bench.call("unplug"))
    with pytest.raises(HardwareError, match="not disabled"):
        end(rig)
    for id_ in IDS:
        bench.call("freeze", id_, False)
    bench.call("plug_in")
    rig.pause(1.0)
    assert enabled(bench) == []


@pytest.mark.parametrize("stopped", [False, True], ids=["killed", "stopped"])
@pytest.mark.parametrize("hangs", [False, True], ids=["loop goes on", "loop hangs at once"])
def test_a_guard_that_is_lost_while_the_motors_are_stiff_is_replaced(
    stiff: Stiff, stopped: bool, hangs: bool
) -> None:
    bench, rig = stiff()
    guard = rig.system._lifecycle.guard
    running = guard._running
    assert isinstance(running, SteppedGuard)
    rig.run(READY)
    running.process.held_until, running.process.killed = NEVER, not stopped
    report = rig.until(lambda report: report.level is SafetyLevel.WARNING)
    assert report.codes == (NO_GUARD.name,)
    if not hangs:
        assert rig.run(2.5) == SafetyReport(report.source)
        assert enabled(bench) == IDS
        assert running.process.gone
    rig.pause(0.5)  # of the loop alone
    assert rig.run(0.1).codes[:1] == (DISABLED_BY_GUARD.name,)
    assert guard._running is not running


def test_the_motors_are_heard_again_after_their_guard_was_killed_while_it_acted(
    stiff: Stiff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_lifecycle, "has_one_reader", lambda *_: True)
    bench, rig = stiff()
    running = rig.system._lifecycle.guard._running
    assert isinstance(running, SteppedGuard)
    for id_ in IDS:
        bench.call("freeze", id_)  # the guard reaches no motor
    bench.hold_up(0.3)
    assert rig.system._lifecycle.guard.stage is Stage.ACTS
    running.process.killed = True
    for id_ in IDS:
        bench.call("freeze", id_, False)
    assert "the guard is disabling" in rig.run(1.0).message
    report = rig.run(5.0)
    assert "the guard could not disable" in report.message
    assert "no guard on" in report.message
    assert rig.system._active().silent_for(0) < 0.05
    assert rig.system.sample_age < 0.05
    end(rig)
    assert enabled(bench) == []


def test_no_motor_is_enabled_once_the_guard_has_taken_over(stiff: Stiff) -> None:
    bench, rig = stiff()
    bench.call("power_off", 22)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    bench.call("freeze", 22, True)
    bench.call("power_on", 22)
    bench.call("freeze", 22, True)  # its enabling is repeated after 1.4 s
    rig.system.reset_faults()
    rig.run(0.2)
    heard = bench.heard()
    bench.hold_up(2.0)
    rig.run(1.0)
    assert rig.system._lifecycle.guard.stage is Stage.DONE
    orders = [can_id for _, can_id, _ in heard if can_id & 0xFF == MessageType.SELECT_MODE]
    assert orders == []
    bench.call("freeze", 22, False)
    with suppress(HardwareError):
        rig.deactivate()
    forget(rig)


class Unreachable(Bus):
    """Loses all frames to one motor."""

    def __init__(self, bus: Bus, id_: int) -> None:
        self._bus, self._lost = bus, identifier(id_, MessageType.RESET) >> 8
        self.receive, self.state = bus.receive, bus.state
        self.refused, self.close = bus.refused, bus.close

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        if frame[0] >> 8 != self._lost:
            self._bus.send(frame)


def test_a_bring_up_that_fails_names_the_motor_that_it_left_enabled(
    stiff: Stiff, can_info: MakeInfo, can_rig: MakeRig
) -> None:
    bench, rig = stiff()
    rig.call(rig.system._active().close)  # as after a kill of process and guard
    rig.system._lifecycle.guard.dismiss()
    forget(rig)
    host = replace(bench.host, open_bus=lambda it: Unreachable(bench.host.open_bus(it), 39))
    info = can_info(IDS, "TA40-50", channel=bench.address)
    again = can_rig(SitoSystem(Timing(), host), info, bench.time)
    text = r"j3 \(id 39\): it still sends within 1 s.*may still be enabled: j3 \(id 39\)"
    with pytest.raises(HardwareError, match=text):
        again.activate()
    assert enabled(bench) == [39]


class CutOnceEnabled(Bus):
    """Cuts the cable of one motor just after it was enabled."""

    def __init__(self, bus: Bus, bench: CanBench, id_: int) -> None:
        self._bus, self._bench, self._id = bus, bench, id_
        self.receive, self.state = bus.receive, bus.state
        self.refused, self.close = bus.refused, bus.close

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        self._bus.send(frame)
        time = self._bench.time
        if frame[0] == identifier(self._id, MessageType.SELECT_MODE) and time is not None:
            soon = time.scheduler.now + 20_000_000  # [ns]
            time.scheduler.call_at(soon, lambda: cut(self._bench, self._id))


def test_a_bring_up_that_fails_names_the_motor_that_was_enabled_and_is_silent(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig
) -> None:
    bench = can_bench("sito", "TA40-50", IDS)
    host = replace(
        bench.host, open_bus=lambda it: CutOnceEnabled(bench.host.open_bus(it), bench, 39)
    )
    info = can_info(IDS, "TA40-50", channel=bench.address)
    rig = can_rig(SitoSystem(Timing(), host), info, bench.time)
    text = r"j3 \(id 39\): no answer.*; may still be enabled: j3 \(id 39\): was silent before$"
    with pytest.raises(HardwareError, match=text):
        rig.activate()
    assert enabled(bench) == [39]


class FullQueueBus(Bus):
    """An adapter that receives nothing, and whose queue has room only after a few attempts."""

    def __init__(self, bus: Bus) -> None:
        self._bus, self.receives_nothing, self._attempts = bus, False, 0
        self.attempts = 4  # attempts until there is room
        self.state, self.refused, self.close = bus.state, bus.refused, bus.close

    def receive(self, timeout: float) -> object:
        """See Bus."""
        if self.receives_nothing:
            raise AdapterLostError("receives nothing")
        return self._bus.receive(timeout)

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        self._attempts += 1
        if self.receives_nothing and self._attempts % self.attempts:
            raise QueueFullError("full")
        self._bus.send(frame)


def test_the_last_orders_wait_for_room_in_the_adapters_queue(stiff: Stiff) -> None:
    opened: list[FullQueueBus] = []

    def wrap(bus: Bus, bench: CanBench) -> Bus:
        if opened:
            raise InterfaceError("it cannot be opened again")
        opened.append(FullQueueBus(bus))
        return opened[0]

    bench, rig = stiff(wrap)
    opened[0].receives_nothing = True
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    with pytest.raises(HardwareError, match="not disabled"):
        end(rig)
    assert enabled(bench) == []


def test_a_serial_adapter_is_claimed_once_whatever_its_baud_rate(tmp_path: Path) -> None:
    (tmp_path / "tty").touch()
    (tmp_path / "link").symlink_to(tmp_path / "tty")
    held = claim(BusSettings("slcan", str(tmp_path / "tty"), 1_000_000), LINUX, 0.0)
    for name in ("tty@3000000", "link", "link@115200"):
        with pytest.raises(InterfaceError, match="another process"):
            claim(BusSettings("slcan", str(tmp_path / name), 1_000_000), LINUX, 0.0)
    held.close()
