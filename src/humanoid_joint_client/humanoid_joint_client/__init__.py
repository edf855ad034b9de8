"""Client of the joint stream of Humanoid Control. Needs neither ROS nor the workspace."""

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
from humanoid_joint_client.state import Fault, JointStates
from humanoid_joint_client.status import Acts, Execution, Status

__all__ = [
    "Acts",
    "AlreadyStreamingError",
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
