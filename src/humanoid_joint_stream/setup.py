"""Installs humanoid_joint_stream."""

from setuptools import find_packages, setup

package_name = "humanoid_joint_stream"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=[
        "humanoid_control_common",
        "humanoid_controller_manager",
        "humanoid_joint_client",
        "grpcio",
        "mujoco",
        "numpy",
        "pydantic>=2",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Joint commands and states over gRPC, for programs without ROS.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [f"joint_stream = {package_name}.server.main:main"],
        "humanoid_control.controllers": [
            f"humanoid_control/JointStreamController = {package_name}.controller:"
            "JointStreamController"
        ],
        "humanoid_control.ros": [
            f"humanoid_control/JointStreamController = {package_name}.ros:attach_joint_stream"
        ],
    },
)
