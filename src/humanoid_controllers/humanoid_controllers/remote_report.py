"""Counts received and refused commands of REMOTE, for /diagnostics. No ROS."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_controllers.reason_codes import COMMAND_REFUSED, SEVERAL_COMMANDERS
from humanoid_controllers.stream_statistics import StreamStatistics

NAME: Final = "remote: commands"
PERIOD: Final = 1.0  # [s] between two reports
SHORTEST: Final = 0.1  # [s] between two if the state changed
LONGEST_REASON: Final = 240  # characters: a message may contain any names


@dataclass(frozen=True, slots=True)
class RefusedCommand:
    """The latest refused command; replaced as a whole."""

    count: int  # of refused commands up to this one
    number: int  # of this one among all received
    at: float  # [s]
    reason: str


class RemoteReport:
    """Counts commands, and makes a diagnosis when one is due.

    One thread calls `received`, and `stream.arrived`; another one `due`. Times are monotonic [s].

    Args:
        publishers: returns how many programs can send commands.

    Attributes:
        count: of the commands, refused ones included.
    """

    def __init__(self, publishers: Callable[[], int]) -> None:
        self._publishers = publishers
        self.stream = StreamStatistics()
        self.count = 0
        self._refused: RefusedCommand | None = None
        self._reported_at = -inf
        self._reported_state = ""
        self._reported_count = 0
        self._reported_level = DiagnosisLevel.OK

    def received(self, now: float, refusal: str = "") -> None:
        """Count a command; `refusal` is why it is refused, or empty."""
        self.count += 1
        if refusal:
            count = self._refused.count + 1 if self._refused else 1
            self._refused = RefusedCommand(count, self.count, now, refusal[:LONGEST_REASON])

    def due(self, state: str, now: float) -> Diagnosis | None:
        """Return the diagnosis due at `now`, None if none is due. `state`: behaviour of REMOTE.

        WARN if a command was refused since the last diagnosis, or several programs command at once.
        """
        refused, since = self._refused, now - self._reported_at
        new = refused is not None and refused.count != self._reported_count
        changed = state != self._reported_state or (
            new and self._reported_level is DiagnosisLevel.OK
        )
        if since < (SHORTEST if changed else PERIOD):
            return None
        values = {"received": str(self.count), "refused": "0", **self.stream.take_figures()}
        text, codes = state, []
        if self.stream.alternates and (count := self._publishers()) > 1:
            text += f"; the commands of {count} programs alternate, the latest one counts"
            codes.append(SEVERAL_COMMANDERS.name)
        if refused is not None:
            self._reported_count = refused.count
            values["refused"] = str(refused.count)
            values["latest refusal [s ago]"] = f"{now - refused.at:.1f}"
            text += f"; {refused.count} refused, the latest (number {refused.number}): "
            text += refused.reason
        if new:
            codes.append(COMMAND_REFUSED.name)
        level = DiagnosisLevel.WARN if codes else DiagnosisLevel.OK
        self._reported_at, self._reported_state, self._reported_level = now, state, level
        return Diagnosis(NAME, level, text, values, codes=tuple(codes))
