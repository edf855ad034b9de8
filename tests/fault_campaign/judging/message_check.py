"""Check the messages about a fault that the operator receives."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, Final, Protocol

from fault_campaign.judging.cause import Cause
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.kinds.kind import Kind, Outcome
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.safety import SafetyLevel

GRACE: Final = 3.0  # [s] until this program receives a message


class MessageSource(Protocol):
    """The part of an Observer that the check uses."""

    @property
    def now(self) -> Any:
        """Return the latest statement."""

    @property
    def statements(self) -> Sequence[Any]:
        """Return all statements since the trial began."""

    @property
    def diagnosed_fall(self) -> Set[str]:
        """Return the reason codes of the fall on /diagnostics; none without an ERROR."""

    @property
    def safety(self) -> Sequence[Any]:
        """Return the latest safety report of each source."""

    def within(self, seconds: float, condition: Callable[[], object]) -> bool:
        """Wait until `condition` is true. Returns False after `seconds`."""

    def fresh(self, seconds: float, count: int = 3) -> bool:
        """Return True if statements still arrive."""

    def request(self, mode: int) -> None:
        """Publish one request."""


class MessageCheck:
    """Compares statements and safety reports with those that a kind of fault requires."""

    def __init__(self, observer: MessageSource, kind: Kind, before: Mode, joint: str) -> None:
        self._observer, self._kind, self._before = observer, kind, before
        self.causes = tuple(kind.causes(joint))  # one of these must be reported

    @property
    def fell(self) -> bool:
        """Return True if the statements report a fall to DAMPING."""
        return bool(self._observer.now.mode == Mode.DAMPING and self._reports_a_fall)

    @property
    def left(self) -> bool:
        """Return True if the former mode is no longer in force, or is the result of a fall."""
        return bool(self._observer.now.mode != self._before or self._reports_a_fall)

    def listen(self) -> list[Violation]:
        """Wait for the messages that must come at once. Return the missing ones."""
        if self._kind.outcome is not Outcome.SOFT:
            return []
        observer = self._observer
        if not observer.within(self._kind.within + GRACE, lambda: self.fell):
            now = observer.now
            return [Violation(ViolationType.NO_FALL, f"mode {now.mode}, {now.status_message!r}")]
        return self._wrong_cause() + self._without_reason() + self._not_diagnosed()

    def conclude(self) -> list[Violation]:
        """Return violations of the mode while the fault lasts."""
        observer, outcome = self._observer, self._kind.outcome
        if outcome is Outcome.OFF:
            return []
        if not observer.fresh(GRACE):
            return [Violation(ViolationType.SILENT, f"no statement for {GRACE:g} s")]
        if outcome in (Outcome.STAYS, Outcome.STOPS):
            return self._stayed()
        if self.fell:
            wrong = self._wrong_cause() if outcome is Outcome.EITHER else []
            return wrong + self._goes_up()
        by_request = self._kind.requests_modes or observer.now.mode == self._before
        return [] if by_request else [self._departure()]

    def _stayed(self) -> list[Violation]:
        """Return violations if the robot did not go on, or gave no reason for a refusal."""
        if self.left:
            return [self._departure()]
        return self._wrong_cause() if any(self.causes) else []

    def _departure(self) -> Violation:
        now = self._observer.now
        text = f"{self._before.name}; mode {now.mode}, {now.status_message!r}"
        return Violation(ViolationType.LEFT, text)

    def _goes_up(self) -> list[Violation]:
        """Return a violation if a request without clear_fault leaves DAMPING after a fall."""
        observer = self._observer
        observer.request(Mode.STANDBY)
        observer.fresh(GRACE)
        if observer.now.mode != Mode.DAMPING:
            return [Violation(ViolationType.UP_AGAIN, f"mode {observer.now.mode}")]
        return []

    def _without_reason(self) -> list[Violation]:
        """Return a violation if DAMPING was stated before the reason of the fall."""
        if self._kind.requests_modes or self._before in SAFE_MODES:
            return []
        number = self._observer.now.switch_number
        first = next(it for it in self._observer.statements if it.switch_number == number)
        if FELL_TO_SAFETY.name in first.reason_codes:
            return []
        early = f"mode {first.mode} was stated without it first: {first.status_message!r}"
        return [Violation(ViolationType.WRONG_CAUSE, early)]

    def _not_diagnosed(self) -> list[Violation]:
        """Return a violation unless the diagnoses have the codes of the fall, too."""
        observer = self._observer

        def diagnosed() -> bool:
            codes = observer.diagnosed_fall
            return FELL_TO_SAFETY.name in codes and codes <= set(observer.now.reason_codes)

        if observer.within(GRACE, diagnosed):
            return []
        text = f"{sorted(observer.diagnosed_fall)}; stated: {list(observer.now.reason_codes)}"
        return [Violation(ViolationType.NOT_DIAGNOSED, text)]

    def _wrong_cause(self) -> list[Violation]:
        observer = self._observer
        if observer.within(GRACE, lambda: any(map(self._is_reported, self.causes))):
            return []
        sources = {cause.source for cause in self.causes}
        reported = [
            f"{it.source} {it.level} {it.flags:#x} {list(it.reason_codes)} {it.message!r}"
            for it in observer.safety
            if it.source in sources
        ]
        now = observer.now
        stated = f"{list(now.reason_codes)} {now.status_message!r}"
        text = f"{stated}; reported: {reported[-4:]}; demanded: {self.causes}"
        return [Violation(ViolationType.WRONG_CAUSE, text)]

    @property
    def _reports_a_fall(self) -> bool:
        # The refusal of a later request repeats the fall with its reason.
        return FELL_TO_SAFETY.name in self._observer.now.reason_codes

    def _is_reported(self, cause: Cause) -> bool:
        observer = self._observer
        now = observer.now
        if not cause.source:
            return cause.fits(now.reason_codes, now.status_message)
        return cause.source in now.status_message and any(
            it.source == cause.source
            and it.level >= SafetyLevel.FAULT
            and it.flags & cause.flags == cause.flags
            and cause.fits(it.reason_codes, it.message)
            for it in observer.safety
        )
