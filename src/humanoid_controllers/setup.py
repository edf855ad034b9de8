"""Installs humanoid_controllers."""

from setuptools import find_packages, setup

package_name = "humanoid_controllers"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
        (f"share/{package_name}/config", ["config/teach.yaml"]),
    ],
    install_requires=[
        "humanoid_control_common",
        "humanoid_controller_manager",
        "humanoid_motion",
        "humanoid_policy",
        "numpy",
        "pydantic>=2",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Mode controllers and mode manager of Humanoid Control.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            f"control = {package_name}.main:main",
            f"control_without_mode_manager = {package_name}.main:main_without_mode_manager",
        ],
        "humanoid_control.controllers": [
            "joint_state_broadcaster/JointStateBroadcaster = "
            f"{package_name}.joint_state_broadcaster:JointStateBroadcaster",
            f"humanoid_control/ZeroTorqueController = "
            f"{package_name}.passive_controllers:ZeroTorqueController",
            f"humanoid_control/DampingController = "
            f"{package_name}.passive_controllers:DampingController",
            f"humanoid_control/StandbyController = {package_name}.standby:StandbyController",
            f"humanoid_control/TeachController = {package_name}.teach.controller:TeachController",
            "humanoid_control/RemotePolicyController = "
            f"{package_name}.remote:RemotePolicyController",
            *(
                f"{owner}/JointTrajectoryController = "
                f"{package_name}.trajectory.controller:JointTrajectoryController"
                for owner in ("humanoid_control", "joint_trajectory_controller")
            ),
            "humanoid_control/RlPolicyController = "
            f"{package_name}.policy.controller:RlPolicyController",
        ],
        "humanoid_control.ros": [
            "joint_state_broadcaster/JointStateBroadcaster = "
            f"{package_name}.ros:attach_joint_state_broadcaster",
            f"humanoid_control/RemotePolicyController = {package_name}.ros:attach_remote",
            *(
                f"{owner}/JointTrajectoryController = "
                f"{package_name}.trajectory.ros:attach_trajectory"
                for owner in ("humanoid_control", "joint_trajectory_controller")
            ),
            f"humanoid_control/RlPolicyController = {package_name}.policy.ros:attach_policy",
        ],
    },
)
