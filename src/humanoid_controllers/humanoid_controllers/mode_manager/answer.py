"""The answer of the mode manager to a request."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    accepted: bool
    message: str
    codes: tuple[str, ...] = ()  # why it is not accepted, or waits
    shut_down: bool = False
    ticket: int = 0  # of the request to the loop; 0 if there is none
