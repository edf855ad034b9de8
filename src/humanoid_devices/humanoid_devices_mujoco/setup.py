"""Installs humanoid_devices_mujoco."""

from setuptools import find_packages, setup

package_name = "humanoid_devices_mujoco"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["humanoid_control_common", "humanoid_controller_manager", "mujoco", "numpy"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="MuJoCo as a hardware component of Humanoid Control.",
    license="Apache-2.0",
    entry_points={
        "humanoid_control.hardware": [
            # The second name is that of the present mujoco_ros2_control.
            *(
                f"mujoco_ros2_control/{name} = humanoid_devices_mujoco.mujoco_system:MujocoSystem"
                for name in ("MujocoSystem", "MujocoSystemInterface")
            ),
        ],
        "humanoid_control.ros": [
            *(
                f"mujoco_ros2_control/{name} = humanoid_devices_mujoco.ros:attach"
                for name in ("MujocoSystem", "MujocoSystemInterface")
            ),
        ],
    },
)
