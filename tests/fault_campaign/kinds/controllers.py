"""Faults of a controller, and of the thread of the ROS callbacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from std_msgs.msg import String

from fault_campaign.kinds.causes import HELD_UP
from fault_campaign.kinds.kind import LETS_GO, Kind, Recovery, RefutedError, Scene, every_joint
from fault_campaign.scenario import Start
from humanoid_control_common.rules.reason_codes import IMPEDANCE_MANAGER_SILENT, SAFETY_SOURCE_FAULT
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.reason_codes import (
    CONTROLLER_FAILED,
    CONTROLLER_LATE,
    INVALID_COMMAND,
    ROS_CALLBACK_RAISED,
    ROS_SIDE_SILENT,
)

_FAILED: Final = "remote_policy_controller"
_REMOTE: Final = (Start.REMOTE,)
_CALLBACKS: Final = "ros_callbacks"  # source of the report of a callback that raised
_TOLD: Final = 5.0  # [s] until an acknowledged failure is reported as such


def _order(words: str) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.observer.orders.publish(String(data=words))


def _acknowledge(scene: Scene) -> None:
    """Acknowledge the FAULT, which must become a WARNING. Raises RefutedError if it does not."""
    observer = scene.robot.observer
    if not any(it.source == _CALLBACKS and it.level == SafetyLevel.FAULT for it in observer.safety):
        raise RefutedError("a callback that raised is not reported as a FAULT")
    answer = observer.try_to_clear(_TOLD)
    if answer is None or not answer.success:
        raise RefutedError(f"clear_fault after a callback raised: {answer}")

    def warns() -> bool:
        reports = [it for it in observer.safety if it.source == _CALLBACKS]
        return bool(reports and reports[-1].level == SafetyLevel.WARNING)

    if not observer.within(_TOLD, warns):
        raise RefutedError("a callback that raised is no WARNING after clear_fault")


_kind: Final = partial(Kind, starts=_REMOTE)

KINDS: Final = (
    _kind(
        name="controller: exception",
        inject=_order("raise"),
        codes=(CONTROLLER_FAILED,),
        named=(_FAILED, "failed as ordered"),
        raises="OrderedFailure: failed as ordered",
    ),
    _kind(
        name="controller: a callback raises",
        inject=_order("raise callback"),
        mend=_acknowledge,
        codes=(ROS_CALLBACK_RAISED,),
        named=(_FAILED, "OrderedFailure"),
        raises="^control: .*OrderedFailure: callback failed as ordered$",
        recovery=Recovery.RESTART,  # its topics are closed until then
        alone=True,
    ),
    _kind(
        name="controller: NaN",
        inject=_order("nan"),
        codes=(INVALID_COMMAND,),
        named=(_FAILED, "left_elbow_pitch"),
    ),
    _kind(
        name="controller: negative gain",
        inject=_order("negative"),
        codes=(INVALID_COMMAND,),
        named=(_FAILED, "left_wrist_pitch"),
    ),
    _kind(
        name="controller: late by 50 ms",
        inject=_order("late 0.05"),
        codes=(CONTROLLER_LATE,),
        named=(_FAILED,),
    ),
    _kind(
        name="controller: hangs for 1 s",
        allowed=(LETS_GO,),
        inject=_order("late 1.0"),
        watched=1.5,
        within=1.5,
        codes=(CONTROLLER_LATE, SAFETY_SOURCE_FAULT, *HELD_UP),
        undamped=every_joint,  # the drives lose their torque by themselves
    ),
    _kind(
        name="ROS callbacks: blocked for 1 s",
        inject=_order("block 1.0"),
        watched=1.3,
        within=0.8,
        codes=(ROS_SIDE_SILENT, IMPEDANCE_MANAGER_SILENT),
    ),
)
