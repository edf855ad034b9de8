"""MoveIt's move_group for Prime; the robot is brought up beside it."""

from launch_ros.actions import Node
from moveit_configs_utils import MoveItConfigsBuilder

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    configuration = MoveItConfigsBuilder("prime").to_moveit_configs()
    move_group = Node(
        package="moveit_ros_move_group",
        executable="move_group",
        output="screen",
        parameters=[configuration.to_dict()],
        remappings=[("joint_states", "prime/joint_states")],
    )
    return LaunchDescription([move_group])
