"""One opened bus: a worker that receives, a worker that sends, and what they know."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

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
from humanoid_devices_can.workers import Steps, Worker

WATCH: Final = 0.1  # [s] between two looks at the interface's own view of the bus
LOOK: Final = 0.01  # [s] between two looks at a conversation nobody answers in
# Frames one after another that no buffer of kernel or adapter holds (a tty's: 64 KiB, 27 a frame):
# a motor that isn't among them is silent, although the receiver never catches up.
LONGEST_BACKLOG: Final = 3000
LAST_WORDS: Final = 3  # times that frames are sent which nobody will confirm


class Session:
    """From opening a bus until it is closed or lost. All methods may be called by any thread."""

    def __init__(
        self,
        bus: Bus,
        family: Family,
        settings: CanSettings,
        timing: Timing,
        cancelled: threading.Event,
    ) -> None:
        """`cancelled`: once it is set, conversations end, those of later sessions too."""
        motors, bitrate = len(settings.motors), settings.bus.bitrate
        self.states = [MotorState() for _ in range(motors)]  # each is replaced whole
        self.health = Health()
        self.outbox = Outbox()
        self.gains = GainsMemory(motors, timing.gains_refresh)
        self.crowding = Crowding(motors, family.feedback_rate)
        self.idle = False  # motors are told again and again to be limp: nobody commands them
        self._bus, self._family, self._timing = bus, family, timing
        self._settings = settings
        self._clock = timing.clock
        self._cancelled = cancelled
        self._stop = threading.Event()
        self._talking = threading.Lock()
        self._unanswered: list[float | None] = [None] * motors  # [s] since the first such command
        self._conversation: Conversation | None = None
        self._refused = bus.refused()
        self._pace = Pace(bitrate)
        self._watched = self._clock()
        self._backlog = 0  # frames since the receiver was up to date
        self._resend_at = -math.inf  # [s] when a frame that was refused is tried again
        self._spoke_at = self._watched  # [s] when a frame was handed over last
        self._workers: list[Worker] = []
        try:
            self._start("receive", self._receive, threading.Event())
            self._start("send", self._send, self.outbox.filled)
        except RuntimeError:
            self.close()
            raise

    def close(self) -> None:
        """End the workers and close the bus, which counts as lost then."""
        self._end_workers()
        self._bus.close()
        self._lose(f"{self._settings.bus}: closed, and not opened again yet")

    def send_last(self, frames: Sequence[CanFrame]) -> None:
        """Send frames before `close` although the bus counts as lost: it may be deaf only."""
        self._end_workers()
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
    ) -> Generator[float, None, dict[int, str]]:
        """Have exchanges made, in steps, times in [s]; what went wrong, by motor.

        `fed`: motors that are told to be limp again and again, lest one that is ready gives us up.

        Raises AdapterLostError, and MotorError if it is cancelled. One conversation at a time.
        """
        fed_at = self._clock()
        self._conversation = talk = Conversation(exchanges, fed_at, timeout=timeout, retry=retry)
        try:
            while self._go_on(talk):
                now = self._clock()
                if fed and now - fed_at >= self._timing.keep_alive:
                    fed_at = now
                    self._put_limp(fed, now)
                yield LOOK
        finally:
            self._conversation = None
        return talk.failures

    def _go_on(self, talk: Conversation) -> bool:
        """Whether there is an answer to be waited for; orders what is to be said again."""
        now = self._clock()
        with self._talking:
            if talk.over(now, self.health.drained, self.states):
                return False
            if self.health.lost:
                raise AdapterLostError(self.health.lost)
            if self._cancelled.is_set():
                raise MotorError("given up: the component is being deactivated")
            for exchange in talk.due(now, self.states, self.health.refused_at):
                self.outbox.order(exchange.motor, exchange.request, now)
        return True

    def listen(self, time: float) -> Steps:
        """Let motors be heard for `time` [s]."""
        end = self._clock() + time
        while self._clock() < end:
            yield LOOK

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

    def _start(self, name: str, step: Callable[[], float], bell: threading.Event) -> None:
        worker = self._timing.workers.start(f"can {name}", self._work(step), bell)
        self._workers.append(worker)

    def _work(self, step: Callable[[], float]) -> Steps:
        try:
            while not (self._stop.is_set() or self.health.abandoned):
                yield step()
        except AdapterLostError as error:
            self._lose(str(error))
        except Exception as error:  # our mistake; the loop must not believe that all is well
            self._lose(f"the thread that serves the bus failed: {error!r}")
            raise

    def _receive(self) -> float:
        before = self._clock()
        received = self._bus.receive(0.0)
        self._backlog += 1
        if received is None or self._backlog > LONGEST_BACKLOG:
            self._backlog = 0
            self.health.drained = before
            self._watch_controller(before)
        if received is None:
            received = self._bus.receive(self._timing.poll)
        if received is None:  # an interface may come back early
            return max(before + self._timing.poll - self._clock(), 0.0)
        self._take(received, self._clock())
        return 0.0

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
            with self._talking:
                if self._conversation is not None:
                    self._conversation.hear(frame.identifier, frame.payload)

    def _send(self) -> float:
        now = self._clock()
        wait = max(self._pace.wait(now), self._resend_at - now)
        if wait > 0.0:
            return wait
        item = self.outbox.take()
        if item is None:
            return self._keep_limp(now)
        try:
            self._bus.send(item.frame)
        except QueueFullError:
            self.outbox.put_back()
            self._resend_at = self._clock() + self._timing.resend
        else:
            self.outbox.sent()
            self._sent(item, self._clock())
        return 0.0

    def _keep_limp(self, now: float) -> float:
        """Where nobody commands the motors they hear from us as often as they need to."""
        keep_alive = self._timing.keep_alive
        if not self.idle:
            return keep_alive
        if (left := self._spoke_at + keep_alive - now) > 0.0:
            return left
        self._put_limp(range(len(self.states)), now)
        return 0.0

    def _sent(self, item: Item, now: float) -> None:
        self._pace.sent(now)
        self._spoke_at = now
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

    def _end_workers(self) -> None:
        self._stop.set()
        self.outbox.filled.set()
        for worker in self._workers:
            worker.join()

    def _lose(self, reason: str) -> None:
        self.health.lost = self.health.lost or reason
