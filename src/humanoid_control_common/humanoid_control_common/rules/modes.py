"""The five control modes, the statement of the one in force, and the transition rules.

The rules are one pure function.

Source: behaviour of the documented system (modes 0-4 and their transition table); docs/modes.md
describes the stricter rules here (latched safety falls, fresh impedance).
"""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final

from humanoid_control_common.rules.reason_codes import (
    FELL_TO_SAFETY,
    JOINTS_STILL_MOVE,
    REFUSED,
    REQUIRES_ANOTHER_MODE,
    STANDBY_UNFINISHED,
    WAITS,
)
from humanoid_control_common.rules.reasons import NO_REASON, Reason, ReasonCode


class Mode(IntEnum):
    """Control modes, numbered as in humanoid_control_msgs/ControlMode."""

    ZERO_TORQUE = 0
    DAMPING = 1
    STANDBY = 2
    LOCOMOTION = 3
    REMOTE = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """The mode in force, as the mode manager publishes it on /control_mode."""

    mode: Mode
    controller: str  # its name
    reason: Reason  # why the last request was refused or the mode was left, if so
    switch_number: int

    @property
    def in_force(self) -> str:
        """The mode in force, without the reason."""
        return f"{self.mode.name} ({self.controller}, switch {self.switch_number})"

    def __str__(self) -> str:
        return f"{self.in_force}: {self.reason}" if self.reason else self.in_force


class Intent(Enum):
    """The requests that the transition rules decide on."""

    ZERO_TORQUE = "ZERO_TORQUE"
    FORCE_ZERO_TORQUE = "FORCE_ZERO_TORQUE"  # even while joints move
    DAMP = "DAMP"
    LOAD = "LOAD"
    START_LOCOMOTION = "START_LOCOMOTION"
    START_REMOTE = "START_REMOTE"
    QUIT = "QUIT"


INTENT_OF_MODE: Final = {
    Mode.ZERO_TORQUE: Intent.ZERO_TORQUE,
    Mode.DAMPING: Intent.DAMP,
    Mode.STANDBY: Intent.LOAD,
    Mode.LOCOMOTION: Intent.START_LOCOMOTION,
    Mode.REMOTE: Intent.START_REMOTE,
}
MODE_OF_INTENT: Final = {
    **{intent: mode for mode, intent in INTENT_OF_MODE.items()},
    Intent.FORCE_ZERO_TORQUE: Mode.ZERO_TORQUE,
}

SAFE_MODES: Final = frozenset({Mode.ZERO_TORQUE, Mode.DAMPING})

_NOT_BEGUN: Final = Reason.of(STANDBY_UNFINISHED, "it has not begun")


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The inputs of the rules."""

    mode: Mode
    unfinished: Reason = _NOT_BEGUN  # why STANDBY has not finished
    safety_problem: Reason = NO_REASON  # why safety forbids stiff modes now
    latched_fall: Reason = NO_REASON  # why the robot fell to DAMPING, until it is cleared
    unconfirmed_impedance: Reason = NO_REASON  # why that of the present mode is not confirmed
    writing_impedance: bool = False  # the mode is so young that it may still be confirmed in time
    moving: str = ""  # names of the joints that move too fast to lose their damping
    settling: Reason = NO_REASON  # why joints that are slow now may not be at rest
    unusable: Reason = NO_REASON  # why no controller of the wanted mode can be activated


class Verdict(Enum):
    """The outcome of an intent."""

    SWITCH = "switch"
    STAY = "stay"  # the requested mode is in force already
    REFUSE = "refuse"
    WAIT = "wait"  # decide again later: only time is lacking
    SHUT_DOWN = "shut down"


@dataclass(frozen=True, slots=True)
class Decision:
    """Verdict of the rules, with a `reason` for REFUSE and WAIT."""

    verdict: Verdict
    reason: Reason = NO_REASON


# The modes in which an intent is allowed.
_ALLOWED_FROM: Final = {
    Intent.DAMP: tuple(Mode),
    Intent.QUIT: (Mode.ZERO_TORQUE, Mode.DAMPING),
    Intent.ZERO_TORQUE: (Mode.DAMPING,),
    Intent.FORCE_ZERO_TORQUE: (Mode.DAMPING,),
    Intent.LOAD: (Mode.DAMPING,),
    Intent.START_LOCOMOTION: (Mode.STANDBY,),
    Intent.START_REMOTE: (Mode.STANDBY,),
}
_START: Final = frozenset({Intent.START_LOCOMOTION, Intent.START_REMOTE})
_STIFF: Final = _START | {Intent.LOAD}


# The `status_message` of a request on /control_mode for ZERO_TORQUE even while joints move.
FORCE: Final = "force"
_LET_SINK: Final = (
    f"an arm that sinks would fall; wait until it hangs, or insist (status_message '{FORCE}', "
    "`hc mode zero_torque --force`) where it may fall"
)


def refused(intent: Intent) -> ReasonCode:
    """Return the code of a refused request for `intent`."""
    return REFUSED[intent.value]


def waits(intent: Intent) -> ReasonCode | None:
    """Return the code while a request for `intent` waits; None for one that never does."""
    return WAITS.get(intent.value)


def refusal(intent: Intent, reason: Reason) -> Reason:
    """Return the statement that `intent` is refused for `reason`."""
    return Reason.of(refused(intent), f"Rejected {intent.value}: {reason}", reason)


def _lasting_obstacle(situation: Situation, intent: Intent) -> Reason:
    """Return why `intent` is refused, if waiting cannot change that."""
    allowed = _ALLOWED_FROM[intent]
    if situation.mode not in allowed:
        names = " or ".join(mode.name for mode in allowed)
        text = f"requires {names} (currently {situation.mode.name})"
        return Reason.of(REQUIRES_ANOTHER_MODE, text)
    if intent is Intent.ZERO_TORQUE and situation.moving:
        return Reason.of(JOINTS_STILL_MOVE, f"{situation.moving} still moves: {_LET_SINK}")
    if intent not in _STIFF:
        return NO_REASON
    if situation.unusable:
        return situation.unusable
    if intent in _START and situation.unfinished:
        text = f"requires STANDBY to be finished ({situation.unfinished})"
        return Reason.of(STANDBY_UNFINISHED, text)
    return situation.safety_problem


def _lacking(situation: Situation, intent: Intent) -> tuple[Reason, bool]:
    """Return what `intent` lacks, if anything, and whether waiting may provide it."""
    if intent is Intent.ZERO_TORQUE:
        return situation.settling, True
    if intent in _STIFF:
        return situation.unconfirmed_impedance, situation.writing_impedance
    return NO_REASON, False


def decide(situation: Situation, intent: Intent) -> Decision:
    """Decide on `intent` in `situation`. Pure: the same input gives the same decision.

    An intent for the mode in force changes nothing. After a fall everything but QUIT is refused
    until the fall is cleared, so a repeated request never leads out of it. DAMP is always allowed
    in a stiff mode. An intent that lacks only time waits.
    """
    target = MODE_OF_INTENT.get(intent)
    if target is situation.mode:
        return Decision(Verdict.STAY)
    down = intent is Intent.DAMP and situation.mode not in SAFE_MODES
    if situation.latched_fall and intent is not Intent.QUIT and not down:
        text = f"fell to safety: {situation.latched_fall}; call clear_fault first"
        fallen = Reason.of(FELL_TO_SAFETY, text, situation.latched_fall)
        return Decision(Verdict.REFUSE, refusal(intent, fallen))
    reason = _lasting_obstacle(situation, intent)
    lacking, in_time = _lacking(situation, intent)
    if reason or (lacking and not in_time):
        return Decision(Verdict.REFUSE, refusal(intent, reason or lacking))
    if lacking:
        text = f"{intent.value} waits: {lacking}"
        return Decision(Verdict.WAIT, Reason.of(WAITS[intent.value], text, lacking))
    return Decision(Verdict.SHUT_DOWN if target is None else Verdict.SWITCH)
