"""Values that the mode manager gives: the answer to a request, and its statement."""

from dataclasses import dataclass

from humanoid_control_common.modes import Mode


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    accepted: bool
    message: str
    codes: tuple[str, ...] = ()  # why it is not accepted, or waits
    shut_down: bool = False
    ticket: int = 0  # of the request to the loop; 0 if there is none


@dataclass(frozen=True, slots=True)
class ModeStatus:
    """The statement: the mode in force, as published on /control_mode."""

    mode: Mode
    controller_name: str
    status_message: str
    switch_number: int
    codes: tuple[str, ...] = ()  # of the status message
