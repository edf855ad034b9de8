"""rviz with MoveIt's panel, beside `move_group.launch.py`."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from moveit_configs_utils import MoveItConfigsBuilder

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    configuration = MoveItConfigsBuilder("prime").to_moveit_configs()
    simulated = ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        namespace=LaunchConfiguration("namespace"),
        output="log",
        arguments=["-d", str(configuration.package_path / "config/moveit.rviz")],
        parameters=[
            configuration.robot_description,
            configuration.robot_description_semantic,
            configuration.robot_description_kinematics,
            configuration.planning_pipelines,
            configuration.joint_limits,
            {"use_sim_time": simulated},
        ],
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("use_sim_time", default_value="false"),
            DeclareLaunchArgument("namespace", default_value=""),
            rviz,
        ]
    )
