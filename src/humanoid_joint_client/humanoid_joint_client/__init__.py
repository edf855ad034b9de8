"""Client of the joint stream of Humanoid Control. Needs neither ROS nor the workspace.

A name is imported at its first use, because the robot's control process needs only some of them,
without the network.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from humanoid_joint_client.async_client import AsyncControl, AsyncJointClient
    from humanoid_joint_client.client import JointClient
    from humanoid_joint_client.config import Joint, RobotConfig
    from humanoid_joint_client.control import Control
    from humanoid_joint_client.errors import (
        AlreadyStreamingError,
        ExpiredError,
        InactiveError,
        InvalidRequestError,
        JointStreamError,
        LeaseTakenError,
        NoAnswerError,
        NoLeaseError,
        NotClearedError,
        NotReadyError,
        StreamFaultError,
        TooDistantError,
        UnavailableError,
        UnsupportedError,
    )
    from humanoid_joint_client.latency import LatencyReport
    from humanoid_joint_client.mjcf import Mjcf
    from humanoid_joint_client.state import Fault, JointStates
    from humanoid_joint_client.status import Capability, Execution, Status

_MODULES: Final = {
    "AlreadyStreamingError": "errors",
    "AsyncControl": "async_client",
    "AsyncJointClient": "async_client",
    "Capability": "status",
    "Control": "control",
    "Execution": "status",
    "ExpiredError": "errors",
    "Fault": "state",
    "InactiveError": "errors",
    "InvalidRequestError": "errors",
    "Joint": "config",
    "JointClient": "client",
    "JointStates": "state",
    "JointStreamError": "errors",
    "LatencyReport": "latency",
    "LeaseTakenError": "errors",
    "Mjcf": "mjcf",
    "NoAnswerError": "errors",
    "NoLeaseError": "errors",
    "NotClearedError": "errors",
    "NotReadyError": "errors",
    "RobotConfig": "config",
    "Status": "status",
    "StreamFaultError": "errors",
    "TooDistantError": "errors",
    "UnavailableError": "errors",
    "UnsupportedError": "errors",
}

__all__ = [
    "AlreadyStreamingError",
    "AsyncControl",
    "AsyncJointClient",
    "Capability",
    "Control",
    "Execution",
    "ExpiredError",
    "Fault",
    "InactiveError",
    "InvalidRequestError",
    "Joint",
    "JointClient",
    "JointStates",
    "JointStreamError",
    "LatencyReport",
    "LeaseTakenError",
    "Mjcf",
    "NoAnswerError",
    "NoLeaseError",
    "NotClearedError",
    "NotReadyError",
    "RobotConfig",
    "Status",
    "StreamFaultError",
    "TooDistantError",
    "UnavailableError",
    "UnsupportedError",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import `name` from its module."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
