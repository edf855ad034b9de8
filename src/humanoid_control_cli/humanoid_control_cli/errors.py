"""Errors between `hc` and a running control process."""

from collections.abc import Sequence

from humanoid_control_cli.domain import others_in_words, robot_in_words
from humanoid_control_common.errors import RobotError


class NoRosError(RobotError):
    """ROS does not start; `reason` is that of rcl."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"ROS does not start: {reason} (see `hc doctor`)")
        self.reason = reason


class NoAnswerError(RobotError):
    """No control process is there, or it doesn't answer."""


class RefusedError(RobotError):
    """The control process refused; the message is its reason, `codes` are the reason's codes."""

    def __init__(self, message: str, codes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.codes = codes


def no_mode_manager() -> NoAnswerError:
    """Return the error of a control process that was started without a mode manager."""
    return NoAnswerError(
        f"the control process on {robot_in_words()} has no mode manager, so requests for modes "
        "have no effect: `ros2 control switch_controllers` activates a controller"
    )


def silent_control_process(timeout: float) -> NoAnswerError:
    """Return the error of a control process that is there, but publishes nothing for `timeout`."""
    return NoAnswerError(
        f"the control process on {robot_in_words()} has published nothing for {timeout:g} s: a "
        "plug-in or the machine holds it up, or it has just ended. See its log; Ctrl-C where it "
        "was started leads the robot down"
    )


def busy_control_process(timeout: float) -> NoAnswerError:
    """Return the error of a control process whose service gives no answer for `timeout` [s]."""
    return NoAnswerError(
        f"the control process on {robot_in_words()} has not answered for {timeout:g} s: a plug-in "
        "or the machine holds it up, or it has just ended. It may still carry the request out: "
        "see its log and `hc status`; Ctrl-C where it was started leads the robot down"
    )


def no_control_process(timeout: float, others: Sequence[str]) -> NoAnswerError:
    """Return the error of a control process that is silent for `timeout` [s].

    `others`: namespaces of the robots that run on the same domain.
    """
    remedy = (
        others_in_words(others)
        if others
        else "start one with `hc up mujoco`, or set the ROS_DOMAIN_ID (and HC_NAMESPACE) of the "
        "one that is running"
    )
    return NoAnswerError(
        f"no control process answers on {robot_in_words()} within {timeout:g} s: {remedy}"
    )
