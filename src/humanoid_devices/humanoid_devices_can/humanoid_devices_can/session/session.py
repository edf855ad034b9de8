"""One open bus: the thread that receives, the thread that sends, and the state they keep."""

import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_devices_can.bus.bus import Bus, CanFrame, DataFrame, ErrorFrame, Received
from humanoid_devices_can.bus.error_frames import BusEvent
from humanoid_devices_can.bus.sending import send_unconfirmed
from humanoid_devices_can.errors import AdapterLostError, MotorError, ProtocolError, QueueFullError
from humanoid_devices_can.motor_protocol import Exchange, MotorFamily, MotorState
from humanoid_devices_can.reason_codes import BUS_THREAD_FAILED, MOTORS_BEING_ENABLED
from humanoid_devices_can.session.acknowledged_requests import AcknowledgedRequests
from humanoid_devices_can.session.health import FrameCounts, Health
from humanoid_devices_can.session.transmit_queue import (
    GainsItem,
    Item,
    Kind,
    RateLimit,
    SentGains,
    TransmitQueue,
    limp_items,
)
from humanoid_devices_can.session.unanswered import Unanswered
from humanoid_devices_can.settings import CanSettings
from humanoid_devices_can.timing import Timing

CONTROLLER_PERIOD: Final = 0.1  # [s] between two reads of the interface's controller state
CHECK_PERIOD: Final = 0.01  # [s] between two checks of pending requests
# Frames in a row: more than kernel and adapter hold (a tty: 64 KiB, 27 a frame). A motor that sent
# none of them is silent, although the receiver never catches up.
LONGEST_BACKLOG: Final = 3000
RESTS: Final = 0.02  # [s] the threads rest after a fast loop has received
GATHERS: Final = 0.008  # [s] the receiving thread rests after frames, to take more at once


class Session:
    """A bus from opening until it is closed or lost. Any thread may call its methods.

    Two threads receive and send. A fast loop does both itself, by `receive_here` and `send_here`:
    changing threads several times in a period would take most of it. The threads rest meanwhile.
    """

    # True while another process must receive all: two readers of a serial line share its bytes.
    leaves_frames: Callable[[], bool] = staticmethod(lambda: False)
    _on_limp: Callable[[], None] | None = None  # see loop_ended
    _confirms = False  # the adapter, in the exchange that runs; see Bus

    def __init__(
        self,
        bus: Bus,
        family: MotorFamily,
        settings: CanSettings,
        timing: Timing,
        machine: Machine,
        cancelled: threading.Event,
    ) -> None:
        """Start both threads. `cancelled`: ends the exchanges of this and all later sessions."""
        motors, bitrate = len(settings.motors), settings.bus.bitrate
        self.states = [MotorState() for _ in range(motors)]  # entries are replaced as a whole
        self.health = Health()
        self.transmit_queue = TransmitQueue(machine.event())
        self.gains = SentGains(motors, timing.gains_refresh, timing.gains_insistence)
        self.frame_counts = FrameCounts(motors, family.feedback_rate)
        self.idle = False  # no controller: the sender keeps the motors limp
        self._bus, self._family, self._timing = bus, family, timing
        self._settings = settings
        self._machine, self._cancelled = machine, cancelled
        self.clock, self.sleep = machine.clock, machine.sleep
        self._stop, self._roused = threading.Event(), machine.event()
        self._receiving, self._sending = threading.Lock(), threading.Lock()
        self._received_here_at = -math.inf  # [s]
        self._requests_lock = threading.Lock()
        # Answers are frames of any kind, and measurements.
        self._unanswered, self._unmeasured = Unanswered(motors), Unanswered(motors)
        self._requests: AcknowledgedRequests | None = None
        self._refused = bus.refused()
        self._rate_limit = RateLimit(bitrate)
        self._controller_read_at = self.clock()
        self._resend_at = -math.inf  # [s] when frames are tried again that the adapter did not take
        self._sent_at = self._controller_read_at  # [s] of the latest frame sent
        self._threads: list[Thread] = []
        try:
            self._start("can receive", self._receive)
            self._sender = self._start("can send", self._send)
        except RuntimeError:
            self.close()
            raise

    def close(self) -> None:
        """End the threads and close the bus, which counts as lost from then on."""
        self._end_threads()
        self._bus.close()
        text = f"{self._settings.bus}: closed, and not opened again yet"
        self._lose(Reason.of(MOTORS_BEING_ENABLED, text))

    def receive_here(self, *, alone: bool) -> None:
        """Take what has arrived, in the caller's thread; `alone`: the threads rest. Never waits."""
        now = self.clock()
        if alone:
            self._received_here_at = now
        if self.health.lost or self.leaves_frames() or not self._receiving.acquire(blocking=False):
            return
        try:
            self._catch_up()
            self._is_up_to_date(now)
        except AdapterLostError as error:
            self._lose(error.reason)
        finally:
            self._receiving.release()

    def send_here(self, items: Iterable[Item]) -> None:
        """Queue `items`, and send what may be sent now, in the caller's thread. Never waits."""
        self.transmit_queue.put(items, rouses=False)
        if not self.health.lost and self._sending.acquire(blocking=False):
            try:
                self._send_due(self.clock())
            except AdapterLostError as error:
                self._lose(error.reason)
            finally:
                self._sending.release()
        if self.transmit_queue.waits():
            self.transmit_queue.filled.set()

    @property
    def sends(self) -> bool:
        """Return whether frames still go out: an adapter that counts as lost may only be deaf."""
        return self._sender.is_alive()

    def loop_ended(self, limp: Callable[[], None]) -> None:
        """Have the threads receive and send again, and keep the motors limp.

        The sending thread calls `limp` when gains of 0 have gone out.
        """
        self._received_here_at = -math.inf
        self._on_limp = limp
        self.idle = True
        self._roused.set()
        self.transmit_queue.filled.set()

    def send_unconfirmed(self, frames: Sequence[CanFrame]) -> None:
        """End the threads and send frames on a bus that counts as lost: it may only be deaf."""
        self._end_threads()
        send_unconfirmed(self._bus, frames, self.clock, self._machine.sleep)

    def exchange(
        self,
        exchanges: Iterable[Exchange],
        *,
        timeout: float,
        retry: float,
        kept_limp: Collection[int] = (),
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> dict[int, Reason]:
        """Carry out exchanges and return the failures by motor. Times in [s].

        `kept_limp`: motors that are sent zero-torque commands meanwhile, so that their watchdogs
        do not expire. `may_go_on`: asked before each request. Only one call at a time. Raises
        AdapterLostError, and MotorError if the exchange is cancelled or may not go on.
        """
        fed_at = self.clock()
        requests = AcknowledgedRequests(exchanges, fed_at, timeout=timeout, retry=retry)
        self._requests = requests
        self._confirms = requests.judges_silence and self._bus.set_confirming(True)
        try:
            while self._pending(requests, may_go_on):
                now = self.clock()
                if kept_limp and now - fed_at >= self._timing.keep_alive:
                    fed_at = now
                    self._put_limp(kept_limp, now)
                self._machine.sleep(CHECK_PERIOD)
        finally:
            self._requests = None
            self._bus.set_confirming(False)
        return requests.failures

    def unheard(self, motors: Mapping[int, float], timeout: float) -> list[int]:
        """Return the keys of `motors` that are silent for their time [s] and all of `timeout`."""
        deadline = self.clock() + timeout
        while True:  # what was not received yet is no sign of life
            missing = [m for m, it in motors.items() if self.states[m].stamp < self.clock() - it]
            if not missing or self.health.lost or self.clock() >= deadline:
                return missing
            self._machine.sleep(CHECK_PERIOD)

    def _pending(self, requests: AcknowledgedRequests, may_go_on: Callable[[], bool]) -> bool:
        """Queue the requests that are due; return whether an answer is still missing."""
        now, certain = self.clock(), self.health.drained
        if self._confirms:
            certain = self.health.confirmed
            with self._sending, suppress(QueueFullError):
                self._bus.ask()
        with self._requests_lock:
            if requests.over(now, certain, self.states):
                return False
            if self.health.lost:
                raise AdapterLostError(self.health.lost.text, self.health.lost)
            if self._cancelled.is_set():
                raise MotorError("given up: the component is being deactivated")
            if not may_go_on():
                raise MotorError("given up: the guard disables the motors")
            for exchange in requests.due(now, self.states, self.health.refused_at):
                self.transmit_queue.order(exchange.motor, exchange.request, now)
        return True

    def forget(self, motor: int) -> None:
        """Drop the sent gains and the fault reports of a motor that will be enabled anew."""
        self.gains.reset(motor)
        self.states[motor] = replace(self.states[motor], report=NO_REASON, warned=False)

    def silent_for(self, motor: int) -> float:
        """Return how long [s] a motor has sent or answered nothing, as of the latest catch-up."""
        if self._family.feedback_rate:
            return self.health.drained - self.states[motor].stamp
        return self._unanswered.duration(motor, self.health.drained)

    def unmeasured_for(self, motor: int) -> float:
        """Return the same for the older of position and velocity: a heartbeat has neither."""
        if self._family.feedback_rate:
            return self.health.drained - self.states[motor].measured_at
        return self._unmeasured.duration(motor, self.health.drained)

    def _start(self, name: str, step: Callable[[], None]) -> Thread:
        thread = self._machine.start(name, lambda: self._serve(step))
        self._threads.append(thread)
        return thread

    def _serve(self, step: Callable[[], None]) -> None:
        # Without real-time priority another process could delay commands although the loop is on
        # time; and a thread that the loop starts inherits the loop's priority.
        self._machine.make_realtime(COMPANION_PRIORITY)
        try:
            while not (self._stop.is_set() or self.health.abandoned):
                step()
        except AdapterLostError as error:
            self._lose(error.reason)
        except Exception as error:  # a programming error must not look like a healthy bus
            text = f"the thread that serves the bus failed: {error!r}"
            self._lose(Reason.of(BUS_THREAD_FAILED, text))
            raise

    def _receive(self) -> None:
        rests = self.clock() - self._received_here_at < RESTS or self.leaves_frames()
        if rests or not self._receiving.acquire(blocking=False):
            self._machine.wait(self._roused, RESTS)
            self._roused.clear()
            return
        try:
            before, confirmed = self.clock(), self.health.confirmed
            taken = self._catch_up()
            self._is_up_to_date(before)
            taken = taken or self._take_all(self._bus.receive_all(self._timing.poll))
        finally:
            self._receiving.release()
        if taken or self.health.confirmed != confirmed:
            self._machine.sleep(GATHERS)
        elif (left := before + self._timing.poll - self.clock()) > 0.0:
            self._machine.sleep(left)  # an interface may return early

    def _catch_up(self) -> int:
        """Take frames until none is left, or LONGEST_BACKLOG at least; return their number."""
        taken, latest = 0, 1
        while latest and taken < LONGEST_BACKLOG:
            latest = self._take_all(self._bus.receive_all(0.0))
            taken += latest
        return taken

    def _take_all(self, received: Sequence[Received]) -> int:
        now = self.clock()
        for it in received:
            self._take(it, now)
        self.health.confirmed = self._bus.confirmed
        return len(received)

    def _is_up_to_date(self, now: float) -> None:
        """Note that everything was received that had arrived at `now` [s]."""
        self.health.drained = now
        self._read_controller(now)

    def _read_controller(self, now: float) -> None:
        """Read the controller's state from interfaces that report it."""
        if now - self._controller_read_at < CONTROLLER_PERIOD:
            return
        self._controller_read_at = now
        self.health.take_state(self._bus.state(), now)
        refused = self._bus.refused()
        if refused != self._refused:
            self._refused = refused
            self._take_refusal(now)

    def _take(self, received: Received, now: float) -> None:
        match received:
            case DataFrame():
                self._take_data(received, now)
            case ErrorFrame():
                self.health.take_error(received, now)
                if received.event & BusEvent.RESTARTED:
                    self.gains.forget_all()
                if received.overflow:
                    self._take_refusal(now)
            case _:
                self.health.take_invalid(received.reason, now)

    def _take_data(self, frame: DataFrame, now: float) -> None:
        try:
            feedback = self._family.decode(frame.identifier, frame.payload)
            feedback.check(self._settings.motors)
        except ProtocolError as error:
            self.health.take_invalid(str(error), now)
            return
        self.health.take_data(now)
        motor = feedback.motor
        if now - self.states[motor].stamp > self._timing.silence:
            self.gains.forget(motor)
        state = self.states[motor] = self.states[motor].updated(feedback, now)
        self._unanswered.answered(motor, now)
        self._unmeasured.answered(motor, state.measured_at)
        self.frame_counts.received(motor, now, answers=feedback.position is not None)
        if self._requests is not None:
            with self._requests_lock:
                if self._requests is not None:
                    self._requests.take(frame.identifier, frame.payload, now)

    def _send(self) -> None:
        now = self.clock()
        with self._sending:
            wait = self._send_due(now)
        if wait is None:
            return
        if wait <= 0.0:
            wait = self._keep_alive(now)
        self._machine.wait(self.transmit_queue.filled, wait)
        self.transmit_queue.filled.clear()  # before the next look at the queue

    def _send_due(self, now: float) -> float | None:
        """Send what may be sent at `now` [s]; None if that was something, else how long to wait."""
        wait = max(self._rate_limit.wait(now), self._resend_at - now)
        if wait <= 0.0 and math.isfinite(self._resend_at):
            self.receive_here(alone=False)  # a serial adapter has room once its answers are read
        items = self.transmit_queue.take(max(self._rate_limit.room(now), 1)) if wait <= 0.0 else []
        if not items:
            return wait
        self._send_items(items)
        return None

    def _send_items(self, items: Sequence[Item]) -> None:
        sent = self._bus.send_all([item.frame for item in items])
        now = self.clock()
        self.transmit_queue.settle(sent)
        for item in items[:sent]:
            self._note_sent(item, now)
        self._resend_at = now + self._timing.resend if sent < len(items) else -math.inf

    def _keep_alive(self, now: float) -> float:
        """Queue zero-torque commands while no controller runs; return the time [s] to the next."""
        period = self._timing.keep_alive
        if not self.idle:
            return period
        if self._on_limp and not self.transmit_queue.waits() and not self.gains.stiffness.any():
            self._on_limp()
            self._on_limp = None
        if (left := self._sent_at + period - now) > 0.0:
            return left
        self._put_limp(range(len(self.states)), now)
        return 0.0

    def _note_sent(self, item: Item, now: float) -> None:
        self._rate_limit.sent(now)
        self._sent_at = now
        self.health.sent += 1
        self.frame_counts.requested(item.motor)
        if isinstance(item, GainsItem):
            self.gains.sent(item, now)
        elif item.kind is Kind.COMMAND:
            self._unanswered.commanded(item.motor, now)
            self._unmeasured.commanded(item.motor, now)

    def _take_refusal(self, now: float) -> None:
        # The adapter accepted a frame and then refused it; which one is unknown.
        self.health.take_refusal(now)
        self.gains.forget_all()

    def _put_limp(self, motors: Collection[int], now: float) -> None:
        self.transmit_queue.put(limp_items(self._family, self.states, self.gains, motors, now))

    def _end_threads(self) -> None:
        self._stop.set()
        self._roused.set()
        self.transmit_queue.filled.set()
        for thread in self._threads:
            thread.join()

    def _lose(self, reason: Reason) -> None:
        self.health.lost = self.health.lost or reason
