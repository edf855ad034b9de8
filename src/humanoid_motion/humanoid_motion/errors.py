"""Errors of motions that are refused."""

from enum import IntEnum

from humanoid_control_common.errors import ControllerError


class Refusal(IntEnum):
    """The kind of error; the values are the codes of control_msgs/FollowJointTrajectory."""

    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3


class MotionRefusedError(ControllerError):
    """A motion is refused before anything moves. The text names point, joint, found, expected."""

    def __init__(
        self, text: str, refusal: Refusal = Refusal.INVALID_GOAL, point: int | None = None
    ) -> None:
        super().__init__(text)
        self.refusal = refusal
        self.point = point  # that the text names, if it does
