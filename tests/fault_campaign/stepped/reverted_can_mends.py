"""Former defects of the CAN buses, restored: see `reverted_mends`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from threading import Event
from typing import Any

from fault_campaign.disturbing.sabotage import put
from humanoid_devices_can.bus.serial_lines import SerialLines
from humanoid_devices_can.bus.slcan import SlcanBus
from humanoid_devices_can.guard.guard_client import Guard
from humanoid_devices_can.motor_monitor import MotorMonitor
from humanoid_devices_can.session.bus_lifecycle import BusLifecycle
from humanoid_devices_can.session.health import Health
from humanoid_devices_can.session.session import Session as BusSession
from humanoid_devices_sito.sito_family import SitoFamily
from humanoid_stepped.wires.can import MemoryCanBus


def only_one_session_cancelled() -> None:
    """Let the order to end reach the open session only, not the next one.

    The mend: all sessions share one event.
    """
    opened = BusLifecycle._open

    def open_own(self: Any) -> BusSession:
        kept, self._cancelled = self._cancelled, Event()
        try:
            return opened(self)
        finally:
            self._cancelled = kept

    put(BusLifecycle, "_open", open_own)


def silence_before_counts() -> None:
    """Count a motor that was silent before the order to disable it as disabled.

    The mend: `Session.unheard` finds it, at the exit and in a failed bring-up.
    """
    put(BusSession, "unheard", lambda *_: [])


def old_feedback_counts() -> None:
    """Count feedback from before the order to enable as an answer to it.

    The mends: a Sito must send again after `QUIET`, and that of `_silent_adapter_counts`.
    """
    silent_adapter_counts()
    enabling = SitoFamily.enabling
    put(SitoFamily, "enabling", lambda self, motor: replace(enabling(self, motor), again=0.0))


def silent_adapter_counts() -> None:
    """Count the silence of an adapter that is held up as that of its motors.

    The mends: silence counts behind a confirmation only, and that of `_unconfirmed_not_left`.
    """
    _unconfirmed_not_left()
    for bus in (MemoryCanBus, SlcanBus):
        put(bus, "set_confirming", lambda *_: False)


def _unconfirmed_not_left() -> None:
    """End the guard although motors did not confirm the exit.

    The mend: `BusLifecycle.stop` leaves them to the guard. One of 150 trials of `exit: frames
    destroyed` finds this alone.
    """
    close = BusLifecycle._close

    def close_unless_lost(self: Any, *, leave: bool = False) -> None:
        lost = self.session is None or self.session.health.lost
        close(self, leave=leave and bool(lost))

    put(BusLifecycle, "_close", close_unless_lost)


def errors_not_asked() -> None:
    """Count silence on a bus with errors as obedience.

    The mend: `Activation.take_down` asks whether the controller has reported errors.
    """
    put(Health, "disturbed", lambda *_: False)


def left_to_a_dead_guard() -> None:
    """Leave the motors to a guard that has ended when an exit could not disable them.

    The mend: `Guard.leave` starts another one.
    """

    def leave(self: Any) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.leave()

    put(Guard, "leave", leave)


def rest_of_a_write_lost() -> None:
    """Lose what the port of a serial adapter does not accept at once.

    The mend: `SerialLines.push` keeps it, and `SlcanBus` sends nothing before it.
    """
    push = SerialLines.push

    def push_once(self: Any) -> None:
        push(self)
        self._unsent.clear()

    put(SerialLines, "push", push_once)


def silent_before_the_guard() -> None:
    """Count a motor that was silent before the guard acted as disabled by the guard.

    The mend: `BusLifecycle._abandon` names such motors apart.
    """
    abandon = BusLifecycle._abandon
    put(BusLifecycle, "_abandon", lambda self, session, _: abandon(self, session, ()))


def diagnosis_notes_silence() -> None:
    """Note which motors were silent before the guard acted at each diagnosis, too.

    The mend: `MotorMonitor.update` alone notes it, in the loop's thread.
    """
    problems = MotorMonitor._silence_problems

    def noted(self: Any, *arguments: Any) -> Iterable[Any]:
        if not self.guard:
            self.silent = self._beyond(arguments[0].silent_for)
        yield from problems(self, *arguments)

    put(MotorMonitor, "_silence_problems", noted)


def no_new_guard() -> None:
    """Start no new guard when motors are enabled again after their guard has acted.

    The mend: `BusLifecycle._renew_guard`.
    """
    put(BusLifecycle, "_renew_guard", lambda self: self.guard.end())


def exit_dismisses_the_guard() -> None:
    """End the guard at an exit that could not disable its motors.

    The mend: `Guard.leave` leaves the motors to the guard.
    """
    put(Guard, "leave", Guard.dismiss)
