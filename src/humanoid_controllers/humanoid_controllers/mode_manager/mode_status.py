"""Values that the mode manager gives: the answer to a request, and its statement."""

from dataclasses import dataclass

from humanoid_control_common.modes import Mode


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    accepted: bool
    message: str
    shut_down: bool = False
    ticket: int = 0  # of the request to the loop; 0 if there is none
    begun: bool = False  # not accepted, but not without effect either


@dataclass(frozen=True, slots=True)
class ModeStatus:
    """The statement: the mode in force, as published on /control_mode."""

    mode: Mode
    controller_name: str
    status_message: str
    switch_number: int
