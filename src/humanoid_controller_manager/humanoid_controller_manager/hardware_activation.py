"""Components of the robot going up and down, with errors that name them."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_control_common.errors import HardwareError
from humanoid_controller_manager.hardware_member import COMPONENT_ERRORS, Member


def activate_member(member: Member) -> None:
    """Activate one component and take its first report. Raises HardwareError naming it."""
    try:
        member.activate()
    except COMPONENT_ERRORS as error:
        raise HardwareError(f"{member.info.name}: {error}") from error


def deactivate_members(members: Sequence[Member]) -> list[HardwareError]:
    """Deactivate all; what went wrong, naming the components."""
    failures: list[HardwareError] = []
    for member in reversed(members):
        try:
            member.component.on_deactivate()
        except COMPONENT_ERRORS as error:
            failure = HardwareError(f"{member.info.name}: {error}")
            failure.__cause__ = error
            failures.append(failure)
    return failures
