"""The CAN controller of one node: its queue and its error confinement (ISO 11898-1, 12.1.4)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from humanoid_twin.can.frame import CanFrame

BITRATE: Final = 1_000_000  # [bit/s] (actuator documents)
_SECOND: Final = 1_000_000_000  # [ns]
_WARNING, _PASSIVE, _BUS_OFF = 96, 128, 256  # counts
_REC_LIMIT: Final = 255  # a register of 8 bits
_REC_AFTER_PASSIVE: Final = 127  # the standard allows 119 to 127


class ErrorState(Enum):
    """Error confinement of a node."""

    ACTIVE = "error active"
    WARNING = "error warning"  # still active
    PASSIVE = "error passive"
    BUS_OFF = "bus off"


class Cause(Enum):
    """Cause of a controller's report to its adapter."""

    STATE = "state changed"
    RESTARTED = "restarted after bus off"
    BIT = "sent bits came out otherwise"
    NOT_ACKNOWLEDGED = "not acknowledged"
    RECEIVED = "a received frame was broken"
    OVERRUN = "the transmit queue is full"


@dataclass(frozen=True, slots=True)
class ControllerReport:
    """A controller's report to its adapter."""

    cause: Cause
    state: ErrorState
    tec: int
    rec: int


class CanController:
    """A queue of frames for the bus, first in first out; each is repeated until it gets through.

    `receive` is called with each frame of another node and the time at its end [ns], `on_report`
    with the controller's own reports. Change `powered`, `bitrate` and `listens_only` with `set`,
    which informs the bus.
    """

    __slots__ = ("_queue_length", "_set_up", "_wanted", "acknowledges", "backlog", "bit_time",
                 "bitrate", "confirm", "frames_sent", "held_until", "listens_only", "on_bus",
                 "on_report", "powered", "queue", "ready", "rec", "receive", "recovering",
                 "restarts", "sequences", "state", "tec")  # fmt: skip

    def __init__(
        self,
        wanted: Callable[[], None],
        set_up: Callable[[], None],
        receive: Callable[[CanFrame, int], None],
        on_report: Callable[[ControllerReport, int], None] | None,
        *,
        queue_length: int,
        restarts: bool,
    ) -> None:
        """Called by the bus; `wanted` informs it of a frame to send, `set_up` of new settings."""
        self._wanted, self._set_up = wanted, set_up
        self.receive = receive
        self.on_report = on_report
        self.confirm: Callable[[CanFrame], None] | None = None  # called with each frame sent
        self.queue: deque[CanFrame] = deque()  # frames to send, read by the bus
        self._queue_length = queue_length
        self.restarts = restarts  # leaves bus-off by itself
        self.frames_sent = 0  # that got through
        self.acknowledges = True
        self.listens_only = False
        self.powered = True
        self.bitrate = BITRATE
        self.bit_time = _SECOND // BITRATE  # [ns]
        self.ready = 0  # [ns] from when on the first frame of the queue may be sent
        self.held_until = 0  # [ns]; see hold_up
        self.backlog: deque[Callable[[int], object]] = deque()  # to be called when that ends
        self.reset()

    def reset(self) -> None:
        """Return to error active with an empty queue, as after power-up."""
        self.queue.clear()
        self.backlog.clear()
        self.tec = self.rec = 0
        self.recovering = False  # bus-off, and counting recessive bits
        self.sequences = 0  # of 11 recessive bits counted
        self.state = ErrorState.ACTIVE
        self.on_bus = self.powered  # and not bus-off

    def set(
        self,
        *,
        powered: bool | None = None,
        bitrate: int | None = None,
        listens_only: bool | None = None,
    ) -> None:
        """Switch on or off, or configure; None leaves a setting. Switching resets."""
        if powered is not None and powered != self.powered:
            self.powered = powered
            self.reset()
        if bitrate is not None:
            self.bitrate, self.bit_time = bitrate, _SECOND // bitrate
        if listens_only is not None:
            self.listens_only = listens_only
        self._set_up()

    def restart(self) -> None:
        """Stop and start: counters 0, queue empty. From bus-off it takes 128 x 11 bits."""
        if self.state is ErrorState.BUS_OFF:
            self.recovering = True
        else:
            self.reset()
        self._set_up()

    def hold_up(self, until: int) -> None:
        """Neither send nor hand over a frame until a time [ns]; then all, in their order."""
        self.held_until = max(self.held_until, until)
        self.ready = max(self.ready, until)
        self._wanted()

    # Frames.

    @property
    def error_active(self) -> bool:
        """True if the node may send active error flags."""
        return self.state in (ErrorState.ACTIVE, ErrorState.WARNING) and not self.listens_only

    @property
    def waiting(self) -> int:
        """Frames in the queue."""
        return len(self.queue)

    @property
    def full(self) -> bool:
        """True if the queue takes no more."""
        return len(self.queue) >= self._queue_length

    def send(self, frame: CanFrame, now: int) -> bool:
        """Queue a frame at `now` [ns]. Return False if full, off, bus-off or listening only."""
        if not self.on_bus or self.listens_only:
            return False
        if self.full:
            self.report(Cause.OVERRUN, now)
            return False
        self.queue.append(frame)
        if len(self.queue) == 1:
            self.ready = max(self.ready, now)
            self._wanted()
        return True

    # Error confinement; called by the bus.

    def sent(self, now: int) -> None:
        """Remove the first frame of the queue: it got through."""
        frame = self.queue.popleft()
        self.frames_sent += 1
        if self.confirm:
            self.confirm(frame)
        if self.tec:
            self.tec -= 1
            self._update(now)

    def received(self, now: int) -> None:
        """Lower the error counter after a valid frame of another node."""
        self.rec = self.rec - 1 if self.rec < _PASSIVE else _REC_AFTER_PASSIVE
        self._update(now)

    def transmit_error(self, cause: Cause, now: int) -> None:
        """Count a failed frame. Missing acknowledgements alone lead no node to bus-off."""
        if cause is Cause.NOT_ACKNOWLEDGED and self.state is ErrorState.PASSIVE:
            return
        self.tec += 8
        self.report(cause, now)
        self._update(now)

    def receive_error(self, now: int, *, flagged: bool) -> None:
        """Count a broken frame of another node; `flagged`: it prolonged this node's flag."""
        if self.listens_only:
            return
        self.rec = min(_REC_LIMIT, self.rec + (9 if flagged else 1))
        self.report(Cause.RECEIVED, now)
        self._update(now)

    def go_bus_off(self, now: int) -> None:
        """Go bus-off, as after too many transmit errors."""
        self.tec = _BUS_OFF
        self._update(now)
        self._set_up()

    def recovered(self, now: int) -> None:
        """Take part again, after enough recessive bits."""
        self.reset()
        self.report(Cause.RESTARTED, now)

    def report(self, cause: Cause, now: int) -> None:
        """Report to the adapter, if this node has one."""
        if self.on_report:
            self.on_report(ControllerReport(cause, self.state, self.tec, self.rec), now)

    def _update(self, now: int) -> None:
        worst = max(self.tec, self.rec)
        if self.tec >= _BUS_OFF:
            state = ErrorState.BUS_OFF
        elif worst >= _PASSIVE:
            state = ErrorState.PASSIVE
        elif worst >= _WARNING:
            state = ErrorState.WARNING
        else:
            state = ErrorState.ACTIVE
        if state is not self.state:
            self.state = state
            if state is ErrorState.BUS_OFF:
                self.on_bus = False
                self.recovering, self.sequences = self.restarts, 0
                self.queue.clear()
            self.report(Cause.STATE, now)
