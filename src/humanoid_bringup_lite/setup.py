"""Installs humanoid_bringup_lite."""

from glob import glob

from setuptools import find_packages, setup

package_name = "humanoid_bringup_lite"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        ("share/ament_index/resource_index/humanoid_control_robot", ["resource/robots/lite"]),
        (f"share/{package_name}", ["package.xml", "README.md"]),
        (f"share/{package_name}/config", sorted(glob("config/*.yaml"))),
        (f"share/{package_name}/launch", sorted(glob("launch/*.launch.py"))),
    ],
    install_requires=[
        "humanoid_bringup",
        "humanoid_devices_mujoco",
        "humanoid_devices_robstride",
        "lite_description",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Bring-up of the bimanual robot Lite.",
    license="Apache-2.0",
)
