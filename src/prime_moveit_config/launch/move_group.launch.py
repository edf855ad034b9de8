"""MoveIt's move_group for Prime; the robot is brought up beside it."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from moveit_configs_utils import MoveItConfigsBuilder

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    configuration = MoveItConfigsBuilder("prime").to_moveit_configs()
    simulated = ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)
    move_group = Node(
        package="moveit_ros_move_group",
        executable="move_group",
        namespace=LaunchConfiguration("namespace"),
        output="screen",
        parameters=[
            configuration.to_dict(),
            {"use_sim_time": simulated, "publish_robot_description_semantic": True},
        ],
        remappings=[("joint_states", "prime/joint_states")],
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="false",
                choices=["true", "false"],
                description="true with mujoco.launch.py: its joint states have simulated time",
            ),
            DeclareLaunchArgument(
                "namespace", default_value="", description="That of the robot's bring-up."
            ),
            move_group,
        ]
    )
