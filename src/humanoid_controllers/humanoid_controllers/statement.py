"""What the mode manager says: its answers to operators, and what is in force."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_control_common.modes import Mode


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operator is told."""

    accepted: bool
    message: str
    shut_down: bool = False
    ticket: int = 0  # of the request to the loop, if there is one
    begun: bool = False  # not accepted, but not without effect either


@dataclass(frozen=True, slots=True)
class Statement:
    """What is in force, as published on /control_mode."""

    mode: Mode
    controller_name: str
    status_message: str
    switch_number: int
