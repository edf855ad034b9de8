"""Prime in MuJoCo, or as a mock, with move_group and rviz; `hc` leads it to REMOTE."""

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.substitutions import EqualsSubstitution, LaunchConfiguration
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    backend, namespace = LaunchConfiguration("backend"), LaunchConfiguration("namespace")
    own = FindPackageShare("prime_moveit_config")
    robot = [FindPackageShare("humanoid_bringup_prime"), "/launch/", backend, ".launch.py"]
    moveit = {"use_sim_time": EqualsSubstitution(backend, "mujoco"), "namespace": namespace}
    return LaunchDescription(
        [
            DeclareLaunchArgument("backend", default_value="mujoco", choices=["mujoco", "mock"]),
            DeclareLaunchArgument("namespace", default_value=""),
            IncludeLaunchDescription(robot, launch_arguments={"namespace": namespace}.items()),
            *(
                IncludeLaunchDescription([own, "/launch/", file], launch_arguments=moveit.items())
                for file in ("move_group.launch.py", "moveit_rviz.launch.py")
            ),
        ]
    )
