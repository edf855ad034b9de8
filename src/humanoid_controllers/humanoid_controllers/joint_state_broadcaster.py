"""The broadcaster of joint states and written commands; `ros` publishes them."""

from pydantic import Field

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import STATE_INTERFACES
from humanoid_controller_manager.controller import Broadcaster, RobotFacts


class BroadcasterParameters(StrictModel):
    """Parameters of the joint state broadcaster."""

    # The topics that viewers, recordings and the impedance manager read.
    joint_states_topic: str = Field(
        default="prime/joint_states", description="Topic of the measured state, relative."
    )
    joint_commands_topic: str = Field(
        default="prime/joint_commands", description="Topic of the written command, relative."
    )
    # As upstream; without a frame rviz shows no efforts.
    frame_id: str = Field(default="base_link", description="Frame of both messages.")
    # Upstream's, of which those values are accepted that leave the joint states whole.
    joints: list[str] = Field(default=[], description="All joints of the robot, or left out.")
    interfaces: list[str] = Field(
        default=[], description="position, velocity and effort, or left out."
    )
    use_local_topics: bool = Field(default=False, description="Only false.")
    use_urdf_to_filter: bool = Field(default=True, description="Only true.")
    map_interface_to_joint_state: dict[str, str] = Field(
        default={}, description="Only each of position, velocity and effort to itself."
    )


class JointStateBroadcaster(Broadcaster):
    """Publishes state and command of every tick, on its ROS side."""

    Parameters = BroadcasterParameters

    def on_configure(self, parameters: BroadcasterParameters, robot: RobotFacts) -> None:
        """See Broadcaster. Raises ConfigError for joint states that would not be whole."""
        mapped = parameters.map_interface_to_joint_state
        unfit = {
            "joints": set(parameters.joints) not in (set(), set(robot.joints.names)),
            "interfaces": set(parameters.interfaces) not in (set(), set(STATE_INTERFACES)),
            "use_local_topics": parameters.use_local_topics,
            "use_urdf_to_filter": not parameters.use_urdf_to_filter,
            "map_interface_to_joint_state": any(key != value for key, value in mapped.items()),
        }
        for key in (key for key, is_unfit in unfit.items() if is_unfit):
            raise ConfigError(
                f"'{key}' is {getattr(parameters, key)}: drives take gains only while all joint "
                "states are on their topic: leave the key out"
            )
        self.topics = parameters
