"""Which topics the joint states and the written commands go out on."""

from __future__ import annotations

from humanoid_control_common.config import StrictModel
from humanoid_controller_manager.controller import Broadcaster, RobotFacts


class BroadcasterParameters(StrictModel):
    """Parameters of the joint state broadcaster."""

    joint_states_topic: str
    joint_commands_topic: str
    frame_id: str = "base_link"  # as upstream's; rviz shows no efforts of states without a frame


class JointStateBroadcaster(Broadcaster):
    """Publishes every tick's state and command; its work is done on the ROS side."""

    Parameters = BroadcasterParameters

    def on_configure(self, parameters: BroadcasterParameters, robot: RobotFacts) -> None:
        """See Broadcaster."""
        self.topics = parameters
