"""Errors between `hc` and a running control process."""

from humanoid_control_cli.domain import ros_domain
from humanoid_control_common.errors import RobotError


class NoAnswerError(RobotError):
    """No control process is there, or it doesn't answer."""


class RefusedError(RobotError):
    """The control process refused; the message is its reason."""


def no_control_process(timeout: float) -> NoAnswerError:
    """Return the error of a control process that is silent for `timeout` [s]."""
    return NoAnswerError(
        f"no control process answers on ROS_DOMAIN_ID {ros_domain()} within {timeout:g} s: start "
        "one with `hc up mujoco`, or set the ROS_DOMAIN_ID of the one that is running"
    )
