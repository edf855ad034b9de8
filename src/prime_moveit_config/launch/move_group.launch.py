"""MoveIt's move_group for Prime; the robot is brought up beside it."""

from launch.actions import DeclareLaunchArgument, GroupAction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import PushROSNamespace, SetParameter, SetRemap
from moveit_configs_utils import MoveItConfigsBuilder
from moveit_configs_utils.launches import generate_move_group_launch

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    moveit = generate_move_group_launch(MoveItConfigsBuilder("prime").to_moveit_configs())
    return LaunchDescription(
        [
            # true with mujoco.launch.py: its joint states have simulated time.
            DeclareLaunchArgument("use_sim_time", default_value="false", choices=["true", "false"]),
            DeclareLaunchArgument("namespace", default_value=""),  # that of the bring-up
            GroupAction(
                [
                    PushROSNamespace(LaunchConfiguration("namespace")),
                    SetParameter("use_sim_time", LaunchConfiguration("use_sim_time")),
                    SetRemap("joint_states", "prime/joint_states"),
                    *moveit.entities,
                ]
            ),
        ]
    )
