"""The frames by which a guard detects whether motors are enabled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# [s] that a frame moves `drained` on at most: more frames may wait behind it.
STEP: Final = 0.001


@dataclass(frozen=True, slots=True)
class DisabledProof:
    """The frames that prove that one motor is disabled: see MotorFamily.

    Its `feedback` (identifiers of frames that it sends unasked while it is enabled) ends when it is
    disabled. Or its `answer` to an order says so: the identifier has the second number in the bits
    of the first. A motor without both gives no proof.
    """

    feedback: tuple[int, ...] = ()
    answer: tuple[int, int] | None = None  # mask and value


class Observation:
    """Facts by motor from the frames received in one session. Times in [s].

    A guard that is held up receives the frames of that time later. So silence counts up to
    `drained`, not up to the present.

    Args:
        now: time of the opening.
    """

    def __init__(self, proofs: Sequence[DisabledProof], now: float) -> None:
        self.drained = now  # [s] up to which all frames have been taken
        self._proofs = proofs
        self._sender = {it: motor for motor, proof in enumerate(proofs) for it in proof.feedback}
        self._heard: set[int] = set()  # have sent feedback
        self._answered: set[int] = set()  # that they are disabled, since the latest order
        self._latest = [0.0] * len(proofs)  # [s] feedback
        self._first_order = self._latest_order = 0.0  # [s]

    def ordered(self, now: float) -> None:
        """Note that all motors have been sent the order to be disabled, perhaps once more."""
        self._answered.clear()
        self._first_order, self._latest_order = self._first_order or now, now

    def found_empty(self, asked: float) -> None:
        """Note that no frame waited when the bus was `asked` [s] for one."""
        self.drained = asked

    def received(self, now: float) -> None:
        """Note that there was a frame of any kind: more may wait behind it."""
        self.drained = min(now, self.drained + STEP)

    def take(self, identifier: int, now: float) -> None:
        """Take a data frame. Frames of other senders do not count."""
        motor = self._sender.get(identifier)
        if motor is not None:
            self._heard.add(motor)
            self._latest[motor] = now
        for motor, proof in enumerate(self._proofs):
            if proof.answer is not None and identifier & proof.answer[0] == proof.answer[1]:
                self._answered.add(motor)

    def all_heard(self) -> bool:
        """Return True if feedback of every motor that sends it was received."""
        return self._heard.issuperset(self._sender.values())

    def silence(self) -> float:
        """Return how long [s] no motor has sent feedback since the latest order."""
        return self.drained - max(*self._latest, self._latest_order)

    def sending(self, certain: float, quiet: float) -> list[int]:
        """Return the motors that were not silent for `quiet` [s] since the first order.

        `certain`: [s] up to which silence counts.
        """
        return [
            motor
            for motor, proof in enumerate(self._proofs)
            if proof.feedback and certain - max(self._latest[motor], self._first_order) < quiet
        ]

    def unanswered(self) -> list[int]:
        """Return the motors whose answer, the only proof, has not come."""
        return [
            motor
            for motor, proof in enumerate(self._proofs)
            if not proof.feedback and motor not in self._answered
        ]

    def proved(self) -> list[int]:
        """Return the disabled motors if none sends: by an answer, or by frames received before.

        A motor that was never heard may be enabled behind a broken cable.
        """
        return sorted(self._heard | self._answered)
