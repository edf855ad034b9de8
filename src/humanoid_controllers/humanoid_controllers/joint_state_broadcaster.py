"""The broadcaster of joint states and written commands; `ros` publishes them."""

from pydantic import Field

from humanoid_control_common.configuration.config import StrictModel
from humanoid_controller_manager.controller import Broadcaster, RobotFacts


class BroadcasterParameters(StrictModel):
    """Parameters of the joint state broadcaster."""

    joint_states_topic: str = Field(description="Topic of the measured state, relative.")
    joint_commands_topic: str = Field(description="Topic of the written command, relative.")
    # As upstream; without a frame rviz shows no efforts.
    frame_id: str = Field(default="base_link", description="Frame of both messages.")


class JointStateBroadcaster(Broadcaster):
    """Publishes state and command of every tick, on its ROS side."""

    Parameters = BroadcasterParameters

    def on_configure(self, parameters: BroadcasterParameters, robot: RobotFacts) -> None:
        """See Broadcaster."""
        self.topics = parameters
