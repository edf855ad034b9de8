"""One opened bus: a thread that receives, a thread that sends, and what they know."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from humanoid_controller_manager.realtime import COMPANION_PRIORITY, make_thread_realtime
from humanoid_devices_can.bus import Bus, CanFrame, DataFrame, ErrorFrame, Received
from humanoid_devices_can.conversation import Conversation
from humanoid_devices_can.crowding import Crowding
from humanoid_devices_can.error_frames import BusEvent
from humanoid_devices_can.errors import (
    AdapterLostError,
    CanBusError,
    MotorError,
    QueueFullError,
    WireError,
)
from humanoid_devices_can.family import Exchange, Family
from humanoid_devices_can.gains_memory import GainsMemory
from humanoid_devices_can.health import Health
from humanoid_devices_can.limp import limp_items
from humanoid_devices_can.motor_state import MotorState
from humanoid_devices_can.outbox import Item, Kind, Outbox
from humanoid_devices_can.pace import Pace
from humanoid_devices_can.settings import CanSettings
from humanoid_devices_can.timing import Timing

WATCH: Final = 0.1  # [s] between two looks at the interface's own view of the bus
LOOK: Final = 0.01  # [s] between two looks at a conversation nobody answers in
# Frames one after another that no buffer of kernel or adapter holds (a tty's: 64 KiB, 27 a frame):
# a motor that isn't among them is silent, although the receiver never catches up.
LONGEST_BACKLOG: Final = 3000
LAST_WORDS: Final = 3  # times that frames are sent which nobody will confirm


class Session:
    """From opening a bus until it is closed or lost. All methods may be called by any thread."""

    def __init__(self, bus: Bus, family: Family, settings: CanSettings, timing: Timing) -> None:
        motors, bitrate = len(settings.motors), settings.bus.bitrate
        self.states = [MotorState() for _ in range(motors)]  # each is replaced whole
        self.health = Health()
        self.outbox = Outbox()
        self.gains = GainsMemory(motors, timing.gains_refresh)
        self.crowding = Crowding(motors, family.feedback_rate)
        self.idle = False  # motors are told again and again to be limp: nobody commands them
        self.cancelled = threading.Event()  # set: conversations are to end
        self._bus, self._family, self._timing = bus, family, timing
        self._clock = timing.clock
        self._stop = threading.Event()
        self._heard = threading.Condition()
        self._unanswered: list[float | None] = [None] * motors  # [s] since the first such command
        self._conversation: Conversation | None = None
        self._refused = bus.refused()
        self._pace = Pace(bitrate)
        self._watched = self._clock()
        self._backlog = 0  # frames since the receiver was up to date
        self._threads = [
            threading.Thread(target=self._work, args=(step,), name=f"can {name}", daemon=True)
            for name, step in (("receive", self._receive), ("send", self._send))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the threads and close the bus."""
        self._end_threads()
        self._bus.close()

    def send_last(self, frames: Sequence[CanFrame]) -> None:
        """Send frames before `close` although the bus counts as lost: it may be deaf only."""
        self._end_threads()
        for frame in (*frames,) * LAST_WORDS:
            with suppress(CanBusError):
                self._bus.send(frame)

    def converse(
        self,
        exchanges: Iterable[Exchange],
        *,
        timeout: float,
        retry: float,
        fed: Collection[int] = (),
    ) -> dict[int, str]:
        """Have exchanges made, times in [s]; what went wrong, by motor.

        `fed`: motors that are told to be limp again and again, lest one that is ready gives us up.

        Raises AdapterLostError, and MotorError if `cancelled` is set. One conversation at a time.
        """
        fed_at = self._clock()
        talk = Conversation(exchanges, fed_at, timeout=timeout, retry=retry)
        with self._heard:
            self._conversation = talk
            try:
                while not talk.over(self._clock(), self.health.drained, self.states):
                    if self.health.lost:
                        raise AdapterLostError(self.health.lost)
                    if self.cancelled.is_set():
                        raise MotorError("given up: the component is being deactivated")
                    now = self._clock()
                    for exchange in talk.due(now, self.states, self.health.refused_at):
                        self.outbox.order(exchange.motor, exchange.request, now)
                    if fed and now - fed_at >= self._timing.keep_alive:
                        fed_at = now
                        self._put_limp(fed, now)
                    self._heard.wait(LOOK)
            finally:
                self._conversation = None
        return talk.failures

    def forget(self, motor: int) -> None:
        """The motor is about to be enabled anew: what it held and reported counts no more."""
        self.gains.forget(motor)
        self.states[motor] = replace(self.states[motor], report="", warned=False)

    def silent_for(self, motor: int) -> float:
        """How long [s] a motor has said nothing, judged when the receiver was up to date.

        A motor that only answers is silent as long as it leaves commands unanswered.
        """
        if self._family.feedback_rate:
            return self.health.drained - self.states[motor].stamp
        since = self._unanswered[motor]
        return 0.0 if since is None else self.health.drained - since

    def unmeasured_for(self, motor: int) -> float:
        """The same for the older half of its state: a motor may tell one half only."""
        if self._family.feedback_rate:
            return self.health.drained - self.states[motor].measured_at
        return self.silent_for(motor)

    def _work(self, step: Callable[[], None]) -> None:
        # Else another process could keep a motor from its command while the loop is on time.
        make_thread_realtime(COMPANION_PRIORITY)
        try:
            while not (self._stop.is_set() or self.health.abandoned):
                step()
        except AdapterLostError as error:
            self._lose(str(error))
        except BaseException as error:  # our mistake; the loop must not believe that all is well
            self._lose(f"the thread that serves the bus failed: {error!r}")
            raise

    def _receive(self) -> None:
        before = self._clock()
        received = self._bus.receive(0.0)
        self._backlog += 1
        if received is None or self._backlog > LONGEST_BACKLOG:
            self._backlog = 0
            self.health.drained = before
            self._watch_controller(before)
        if received is None:
            received = self._bus.receive(self._timing.poll)
        if received is not None:
            self._take(received, self._clock())

    def _watch_controller(self, now: float) -> None:
        """Look at what the interface says of its controller, where it does."""
        if now - self._watched < WATCH:
            return
        self._watched = now
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
        except WireError as error:
            self.health.take_invalid(str(error), now)
            return
        self.health.take_data(now)
        motor = feedback.motor
        if now - self.states[motor].stamp > self._timing.silence:
            self.gains.forget(motor)
        self.states[motor] = self.states[motor].updated(feedback, now)
        self._unanswered[motor] = None
        self.crowding.heard(motor, now)
        if self._conversation is not None:
            with self._heard:
                if self._conversation is not None:
                    self._conversation.hear(frame.identifier, frame.payload)
                self._heard.notify_all()

    def _send(self) -> None:
        item = self.outbox.take(self._timing.keep_alive)
        now = self._clock()
        if item is None:
            if self.idle:
                self._put_limp(range(len(self.states)), now)
            return
        self._stop.wait(self._pace.wait(now))
        try:
            self._bus.send(item.frame)
        except QueueFullError:
            self.outbox.put_back()
            self._stop.wait(self._timing.resend)
        else:
            self.outbox.sent()
            self._sent(item, self._clock())

    def _sent(self, item: Item, now: float) -> None:
        self._pace.sent(now)
        self.health.sent += 1
        if item.kind is Kind.GAINS:
            self.gains.sent(item.motor, item.frame, now)
            return
        self.crowding.asked(item.motor)
        if item.kind is Kind.COMMAND and self._unanswered[item.motor] is None:
            self._unanswered[item.motor] = now

    def _take_refusal(self, now: float) -> None:
        """The adapter took a frame and then refused it; which one is unknown."""
        self.health.take_refusal(now)
        self.gains.forget_all()

    def _put_limp(self, motors: Collection[int], now: float) -> None:
        self.outbox.put(limp_items(self._family, self.states, self.gains, motors, now))

    def _end_threads(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _lose(self, reason: str) -> None:
        with self._heard:
            self.health.lost = self.health.lost or reason
            self._heard.notify_all()
