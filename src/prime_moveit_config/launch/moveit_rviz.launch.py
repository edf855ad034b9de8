"""rviz with MoveIt's panel, beside `move_group.launch.py`."""

from launch.actions import DeclareLaunchArgument, GroupAction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import PushROSNamespace, SetParameter
from moveit_configs_utils import MoveItConfigsBuilder
from moveit_configs_utils.launches import generate_moveit_rviz_launch

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    moveit = generate_moveit_rviz_launch(MoveItConfigsBuilder("prime").to_moveit_configs())
    return LaunchDescription(
        [
            # true with mujoco.launch.py: its joint states have simulated time.
            DeclareLaunchArgument("use_sim_time", default_value="false", choices=["true", "false"]),
            DeclareLaunchArgument("namespace", default_value=""),  # that of the bring-up
            GroupAction(
                [
                    PushROSNamespace(LaunchConfiguration("namespace")),
                    SetParameter("use_sim_time", LaunchConfiguration("use_sim_time")),
                    *moveit.entities,
                ]
            ),
        ]
    )
