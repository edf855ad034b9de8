"""The five control modes and the rules by which they follow each other: one pure function.

Source: behaviour of the documented system (modes 0-4 and their transition table); what is stricter
here (latched safety falls, fresh impedance) is described in docs/modes.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final


class Mode(IntEnum):
    """Control modes, numbered as in humanoid_control_msgs/ControlMode."""

    ZERO_TORQUE = 0
    DAMPING = 1
    STANDBY = 2
    LOCOMOTION = 3
    REMOTE = 4


class Intent(Enum):
    """What an operator can ask for."""

    ZERO_TORQUE = "ZERO_TORQUE"
    FORCE_ZERO_TORQUE = "FORCE_ZERO_TORQUE"  # although joints still move
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything the rules look at."""

    mode: Mode
    unfinished: str = "it has not begun"  # why STANDBY has not come to its end; empty if it has
    safety_problem: str = ""  # why safety forbids stiff modes now; empty if it doesn't
    latched_fall: str = ""  # why the robot fell to DAMPING; empty once cleared
    unconfirmed_impedance: str = (
        ""  # who has not confirmed the present mode's impedance; empty if all have
    )
    writing_impedance: bool = False  # the mode is so young that it may still be confirmed in time
    moving: str = ""  # the joints that move too fast to be left without damping; empty if none
    settling: str = ""  # why joints that are slow now may not be at rest; empty if they are
    policy_loaded: bool = False


class Verdict(Enum):
    """What becomes of an intent."""

    SWITCH = "switch"
    STAY = "stay"  # the mode asked for is in force already
    REFUSE = "refuse"
    WAIT = "wait"  # only time is lacking: ask again, until it is another verdict
    SHUT_DOWN = "shut down"


@dataclass(frozen=True, slots=True)
class Decision:
    """Outcome of the rules: `mode` for SWITCH, `reason` for REFUSE and WAIT."""

    verdict: Verdict
    mode: Mode | None = None
    reason: str = ""


# The modes an intent may be asked from; DAMP from any.
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


# How a request for mode 0 on /control_mode insists: the word in its `status_message`.
FORCE: Final = "force"
_LET_SINK: Final = (
    f"an arm that sinks would fall; wait until it hangs, or insist (status_message '{FORCE}', "
    "`hc mode zero_torque --force`) where it may fall"
)


def waits(intent: Intent) -> str:
    """How a statement begins that says what a request for `intent` waits for."""
    return f"{intent.value} waits: "


def _refusal(situation: Situation, intent: Intent) -> str:
    """Why `intent` is refused in `situation`, whatever time may bring; empty if it is not."""
    allowed = _ALLOWED_FROM[intent]
    if situation.mode not in allowed:
        names = " or ".join(mode.name for mode in allowed)
        return f"requires {names} (currently {situation.mode.name})"
    if intent is Intent.ZERO_TORQUE and situation.moving:
        return f"{situation.moving} still moves: {_LET_SINK}"
    if intent not in _STIFF:
        return ""
    if intent is Intent.START_LOCOMOTION and not situation.policy_loaded:
        return "no policy loaded"
    if intent in _START and situation.unfinished:
        return f"requires STANDBY to be finished ({situation.unfinished})"
    return situation.safety_problem


def _lacking(situation: Situation, intent: Intent) -> tuple[str, bool]:
    """What `intent` still lacks in `situation`, or nothing; whether time alone may bring it."""
    if intent is Intent.ZERO_TORQUE:
        return situation.settling, True
    if intent in _STIFF:
        return situation.unconfirmed_impedance, situation.writing_impedance
    return "", False


def decide(situation: Situation, intent: Intent) -> Decision:
    """What becomes of `intent` in `situation`. Pure: same input, same answer.

    A request for the mode in force changes nothing. After a fall by safety everything but QUIT is
    refused until the fall is cleared, so a repeated request can never lead out of it. The way down
    from a stiff mode is always open. What lacks nothing but a moment waits for it.
    """
    target = MODE_OF_INTENT.get(intent)
    if target is situation.mode:
        return Decision(Verdict.STAY)
    down = intent is Intent.DAMP and situation.mode not in SAFE_MODES
    if situation.latched_fall and intent is not Intent.QUIT and not down:
        reason = f"fell to safety: {situation.latched_fall}; call clear_fault first"
        return Decision(Verdict.REFUSE, reason=f"Rejected {intent.value}: {reason}")
    reason = _refusal(situation, intent)
    lacking, in_time = _lacking(situation, intent)
    if reason or (lacking and not in_time):
        return Decision(Verdict.REFUSE, reason=f"Rejected {intent.value}: {reason or lacking}")
    if lacking:
        return Decision(Verdict.WAIT, reason=f"{waits(intent)}{lacking}")
    if target is None:
        return Decision(Verdict.SHUT_DOWN)
    return Decision(Verdict.SWITCH, mode=target)
