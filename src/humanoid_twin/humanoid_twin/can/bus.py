"""The virtual CAN bus: frames take their time, the lowest identifier first. No wall clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final

from humanoid_twin.can import bits
from humanoid_twin.can.controller import CanController, Cause, ControllerReport, ErrorState
from humanoid_twin.can.disturbance import Disturbance
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.clock import NEVER, SimulatedTime

# Bits after which a node with another bit rate finds a stuff error; assumed.
_FOREIGN_FINDS: Final = 12  # [bits]


class Outcome(Enum):
    """Outcome of one attempt to send a frame."""

    SENT = "sent"
    NOT_ACKNOWLEDGED = "not acknowledged"
    COLLISION = "nodes with one identifier sent different data"
    FOREIGN = "a node with another bit rate destroyed it"
    CORRUPTED = "destroyed on the wire"


_SENT = Outcome.SENT  # looked up once: for every frame it would be slow


@dataclass(slots=True)  # not frozen: one is made for each frame
class Transmission:
    """One frame on the wire."""

    frame: CanFrame
    senders: Sequence[CanController]  # more than one only with the same content, or colliding
    outcome: Outcome
    start: int  # [ns]
    end: int  # [ns], without the intermission
    idle: int  # [ns] end of the intermission: a new frame may start


def dominant_frame(senders: Sequence[CanController]) -> tuple[CanFrame, Sequence[CanController]]:
    """Return the frame on the wire up to the first difference, and its senders.

    All senders have won arbitration with the same identifier; at the first difference a dominant
    bit overrules recessive ones.
    """
    frame = senders[0].queue[0]
    if len(senders) == 1:
        return frame, senders
    same = [senders[0]]
    for sender in senders[1:]:
        other = sender.queue[0]
        if _content(other) < _content(frame):
            frame, same = other, [sender]
        elif _content(other) == _content(frame):
            same.append(sender)
    return frame, same


def _content(frame: CanFrame) -> tuple[int, bytes]:
    return frame.length, frame.data


def winners(candidates: Sequence[CanController]) -> Sequence[CanController]:
    """Return the winners of arbitration: one node, unless identifiers are not unique."""
    if len(candidates) == 1:
        return candidates
    best, found = candidates[0].queue[0].priority, [candidates[0]]
    for node in candidates[1:]:
        priority = node.queue[0].priority
        if priority < best:
            best, found = priority, [node]
        elif priority == best:
            found.append(node)
    return found


def acknowledged(nodes: Sequence[CanController], senders: Sequence[CanController]) -> bool:
    """Return whether a node acknowledges the frame of `senders`."""
    rate = senders[0].bitrate
    for node in nodes:
        if (node.on_bus and node.acknowledges and not node.listens_only
                and node.bitrate == rate and node not in senders):  # fmt: skip
            return True
    return False


def destroyed_by_foreigner(nodes: Sequence[CanController], rate: int) -> bool:
    """Return whether a node with another bit rate destroys every frame."""
    return any(node.bitrate != rate and node.error_active and node.on_bus for node in nodes)


def duration(frame: CanFrame, outcome: Outcome) -> int:
    """Return the bits until the bus is recessive again, without the intermission."""
    if outcome is _SENT:
        return bits.frame_bits(frame) + bits.TAIL
    if outcome is Outcome.FOREIGN:
        return _FOREIGN_FINDS + bits.ERROR_FRAME
    # A collision ends at the first difference, wherever in the data: counted as the whole frame.
    return bits.frame_bits(frame) + bits.BEFORE_ACK_ERROR + bits.ERROR_FRAME


CAUSES: Final = {
    Outcome.NOT_ACKNOWLEDGED: Cause.NOT_ACKNOWLEDGED,
    Outcome.COLLISION: Cause.BIT,
    Outcome.FOREIGN: Cause.BIT,
    Outcome.CORRUPTED: Cause.BIT,
}


@dataclass(frozen=True, slots=True)
class UnacknowledgedRepetition:
    """Attempts without acknowledgement, repeated until something changes.

    They are counted then, and aren't simulated one by one.
    """

    start: int  # [ns] of the first
    period: int  # [ns] from one to the next

    def tries(self, now: int) -> int:
        """Return the number of attempts begun before `now` [ns]."""
        return max(0, -((self.start - now) // self.period))


TX_QUEUE: Final = 10  # frames: txqueuelen of Linux' CAN interfaces


@dataclass(slots=True)
class Counters:
    """Counts of the bus since the start."""

    busy: int = 0  # [ns]
    frames: int = 0
    error_frames: int = 0
    unacknowledged: int = 0
    lost: int = 0


class VirtualCanBus:
    """Nodes on one pair of wires (ISO 11898-1).

    The caller sets the time, in nanoseconds: `run(now)` runs all events until then; there are none
    before `next_event`. `run` calls the callbacks of nodes.
    """

    def __init__(self, simulated_time: SimulatedTime | None = None) -> None:
        """`simulated_time`: the robot's time, shared with its other units."""
        self.simulated_time = simulated_time or SimulatedTime()
        self.next_event = NEVER
        self.disturbance = Disturbance()
        self.counters = Counters()
        self._nodes: list[CanController] = []
        self._attempt: Transmission | None = None
        self._idle = 0  # [ns] from when on a frame may start
        self._repetition: UnacknowledgedRepetition | None = None
        self._one_rate = True  # all nodes have the same bit rate
        self._touched = False  # settings have changed since the attempt began

    @property
    def now(self) -> int:
        """Time reached [ns]."""
        return self.simulated_time.now

    def attach(
        self,
        receive: Callable[[CanFrame, int], None],
        *,
        on_report: Callable[[ControllerReport, int], None] | None = None,
        queue_length: int = TX_QUEUE,
        restarts: bool = True,
    ) -> CanController:
        """Return a new node's controller, switched on; `restarts`: it leaves bus-off by itself."""
        node = CanController(
            self._settle, self._set_up, receive, on_report,
            queue_length=queue_length, restarts=restarts,
        )  # fmt: skip
        self._nodes.append(node)
        self._set_up()
        return node

    def run(self, now: int) -> None:
        """Run all events until `now` [ns]."""
        simulated_time = self.simulated_time
        while self.next_event <= now:
            simulated_time.now = event = max(self.next_event, simulated_time.now)
            if self.disturbance.due <= event:
                self.disturbance.release(event)
            elif self._attempt:
                self._finish(self._attempt)
            else:
                self._recover(event)
                self._start(event)
            self._schedule()
        simulated_time.now = max(now, simulated_time.now)

    def after_hold_up(self, node: CanController, act: Callable[[int], object]) -> None:
        """Call `act` with the time [ns] at which the hold-up of a node ends, in this order."""
        node.backlog.append(act)
        if len(node.backlog) == 1:
            self.call_at(node.held_until, partial(self._end_hold_up, node))

    def call_at(self, time: int, act: Callable[[int], object]) -> None:
        """Call `act` with the time [ns], as an event of the bus."""
        self.disturbance.delay(time, act)
        self._schedule()

    def _end_hold_up(self, node: CanController, now: int) -> None:
        if now < node.held_until:  # it has been prolonged
            self.disturbance.delay(node.held_until, partial(self._end_hold_up, node))
            return
        acts = [*node.backlog]
        node.backlog.clear()
        for act in acts:  # one of them may be the host's order to close the channel
            act(now)

    def settled_counters(self) -> Counters:
        """Return the counts up to now."""
        self._settle()
        return self.counters

    # The next event.

    def _set_up(self) -> None:
        """Note that nodes were added or removed, or their settings changed."""
        self._touched = True
        self._one_rate = len({node.bitrate for node in self._nodes}) <= 1
        self._settle()

    def _settle(self) -> None:
        """Find the next event again, after a new frame or a change of settings.

        Unacknowledged attempts end, and are counted.
        """
        repetition = self._repetition
        if repetition:
            tries = repetition.tries(self.simulated_time.now)
            self.counters.unacknowledged += tries
            self.counters.busy += tries * repetition.period
            self._idle = repetition.start + tries * repetition.period
            self._repetition = None
        self._schedule()

    def _schedule(self) -> None:
        event, due = self._next_on_the_wire(), self.disturbance.due
        self.next_event = event if event < due else due

    def _next_on_the_wire(self) -> int:
        if self._attempt:
            return self._attempt.end
        if self._repetition:
            return NEVER
        event, idle = NEVER, self._idle
        for node in self._nodes:
            if node.queue and node.on_bus:
                if node.ready <= idle:
                    return idle  # nothing is earlier
                event = min(event, node.ready)
            elif node.recovering:
                missing = max(bits.RECOVERY_SEQUENCES - node.sequences, 0)
                event = min(event, idle + missing * bits.RECESSIVE_SEQUENCE * node.bit_time)
        return event

    def _recover(self, now: int) -> None:
        for node in self._nodes:
            if node.recovering:
                silence = max(0, now - self._idle)
                node.sequences += silence // (bits.RECESSIVE_SEQUENCE * node.bit_time)
                if node.sequences >= bits.RECOVERY_SEQUENCES:
                    node.recovered(now)
        self._idle = max(self._idle, now)

    # One attempt to send a frame.

    def _start(self, now: int) -> None:
        candidates = [n for n in self._nodes if n.queue and n.on_bus and n.ready <= now]
        if not candidates:
            return
        senders = winners(candidates)
        frame, sending = dominant_frame(senders)
        outcome = self._outcome(senders, sending, now)
        bit = sending[0].bit_time
        end = now + duration(frame, outcome) * bit
        involved = senders if outcome is Outcome.COLLISION else sending
        self._touched = False
        self._attempt = Transmission(
            frame, involved, outcome, now, end, end + bits.INTERMISSION * bit
        )

    def _outcome(
        self, senders: Sequence[CanController], sending: Sequence[CanController], now: int
    ) -> Outcome:
        if len(senders) > len(sending):
            losers = [sender for sender in senders if sender not in sending]
            if any(loser.error_active for loser in losers):
                return Outcome.COLLISION
            for loser in losers:  # error passive: its flag is recessive and spoils nothing
                loser.transmit_error(Cause.BIT, now)
                loser.ready = now + 1  # waits until the bus is idle again
        if not self._one_rate and destroyed_by_foreigner(self._nodes, sending[0].bitrate):
            return Outcome.FOREIGN
        if self.disturbance.corrupts():
            return Outcome.CORRUPTED
        return _SENT if acknowledged(self._nodes, sending) else Outcome.NOT_ACKNOWLEDGED

    def _finish(self, attempt: Transmission) -> None:
        now = attempt.end
        self._attempt = None
        self._idle = attempt.idle
        self.counters.busy += attempt.idle - attempt.start
        for node in self._nodes:
            if node.recovering:
                node.sequences += 1  # a frame ends with eleven recessive bits, an error frame too
        senders, outcome = attempt.senders, attempt.outcome
        if self._touched:
            senders = self._still_sending(attempt)
            if not senders:
                outcome = Outcome.CORRUPTED  # its sender is gone
            elif outcome is _SENT and not acknowledged(self._nodes, senders):
                outcome = Outcome.NOT_ACKNOWLEDGED
        if outcome is _SENT:
            self._succeed(attempt, senders, now)
        else:
            self._fail(attempt, senders, outcome, now)

    def _still_sending(self, attempt: Transmission) -> Sequence[CanController]:
        """Return the senders that have neither lost power nor been restarted meanwhile."""
        collision = attempt.outcome is Outcome.COLLISION
        return [
            node for node in attempt.senders
            if node.on_bus and node.queue and (collision or node.queue[0] == attempt.frame)
        ]  # fmt: skip

    def _succeed(self, attempt: Transmission, senders: Sequence[CanController], now: int) -> None:
        self.counters.frames += 1
        lost = self.disturbance.loses()
        self.counters.lost += lost
        rate, receivers = senders[0].bitrate, []
        for sender in senders:
            sender.sent(now)
            self._suspend(sender, attempt.idle)
        for node in self._nodes:
            if not node.on_bus or node in senders:
                continue
            if node.bitrate != rate:
                node.receive_error(now, flagged=False)
                continue
            if node.rec:
                node.received(now)
            held = now < node.held_until
            receivers.append(partial(self._receive_later, node) if held else node.receive)
        if not lost:
            self.disturbance.deliver(attempt.frame, receivers, now)

    def _receive_later(self, node: CanController, frame: CanFrame, now: int) -> None:
        del now
        self.after_hold_up(node, lambda end: node.on_bus and node.receive(frame, end))

    def _fail(
        self, attempt: Transmission, senders: Sequence[CanController], outcome: Outcome, now: int
    ) -> None:
        unacknowledged = outcome is Outcome.NOT_ACKNOWLEDGED
        hopeless = unacknowledged and all(sender.state is ErrorState.PASSIVE for sender in senders)
        if unacknowledged:
            self.counters.unacknowledged += 1
        else:
            self.counters.error_frames += 1
        for sender in senders:
            sender.transmit_error(CAUSES[outcome], now)
            self._suspend(sender, attempt.idle)
        rate = senders[0].bitrate if senders else None
        for node in self._nodes:
            if node not in senders and node.on_bus and not unacknowledged:
                foreign = rate is not None and node.bitrate != rate
                node.receive_error(now, flagged=foreign)
        if hopeless:
            self._suspend_repetitions(attempt, senders)

    def _suspend(self, sender: CanController, idle: int) -> None:
        suspended = bits.SUSPEND if sender.state is ErrorState.PASSIVE else 0
        sender.ready = max(idle + suspended * sender.bit_time, sender.held_until)

    def _suspend_repetitions(self, attempt: Transmission, senders: Sequence[CanController]) -> None:
        """Stop simulating repetitions until something changes; they are counted then."""
        waiting = [node for node in self._nodes if node.queue and node.on_bus]
        if len(waiting) == len(senders) == 1 and not any(node.recovering for node in self._nodes):
            again = senders[0].ready
            self._repetition = UnacknowledgedRepetition(again, again - attempt.start)
