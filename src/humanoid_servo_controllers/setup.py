"""Installs humanoid_servo_controllers."""

from setuptools import find_packages, setup

package_name = "humanoid_servo_controllers"
KINDS = (
    "EffortController",
    "VelocityController",
    "PositionController",
    "MixedPositionVelocityController",
)

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
        "numpy",
        "pydantic>=2",
        "PyYAML",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Position and velocity control by effort, with friction maps and deadbands.",
    license="Apache-2.0",
    entry_points={
        "humanoid_control.controllers": [
            f"humanoid_control/{kind} = {package_name}.controllers:{kind}" for kind in KINDS
        ],
        "humanoid_control.ros": [
            f"humanoid_control/{kind} = {package_name}.ros:attach_servo" for kind in KINDS
        ],
    },
)
