"""Activation of all hardware components, or of none, and their deactivation."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS

_BEGINS: Final = "begin_activation"  # the duty of a component with a long activation


class NotDeactivatedError(HardwareError):
    """A component failed to deactivate: its joints may still be powered."""

    def __init__(self, component: str, error: BaseException) -> None:
        super().__init__(f"{component}: {error}")
        self.component = component


def activate_all(members: Sequence[Member], joints: JointSet, state: JointState) -> None:
    """Activate `members` in this order and fill `state`; on an error deactivate what has begun.

    Long activations begin together, before the first one.

    Raises HardwareError naming the component, or the `joints` that have no measured position.
    """
    tried = 0
    try:
        for member in members:
            if _BEGINS in member.duties:
                member.begin_activation()
        for member in members:
            tried += 1
            member.activate()
            state.array[:, member.rows] = member.state.array
        if (unknown := ~np.isfinite(state.array.sum(axis=0))).any():
            raise HardwareError(f"no measured state of {joints.named(unknown)}")
    except HardwareError as error:
        begun = [member for member in members[tried:] if _BEGINS in member.duties]
        for failure in deactivate_all([*members[:tried], *begun]):
            error.add_note(f"joints may still be powered: {failure}")
        raise


def deactivate_all(members: Sequence[Member]) -> list[HardwareError]:
    """Deactivate all, the last one first; return the errors, each with the component's name."""
    failures: list[HardwareError] = []
    for member in reversed(members):
        try:
            member.component.on_deactivate()
        except PLUGIN_ERRORS as error:
            failure = NotDeactivatedError(member.info.name, error)
            failure.__cause__ = error
            failures.append(failure)
    return failures
