"""Installs humanoid_policy_training."""

from setuptools import find_packages, setup

package_name = "humanoid_policy_training"

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
        "humanoid_bringup",
        "humanoid_control_common",
        "humanoid_controller_manager",
        "humanoid_devices_mujoco",
        "humanoid_policy",
        "matplotlib",
        "mujoco",
        "numpy",
        "onnx",
        "typer",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Trains the reaching policy of Humanoid Control in simulation.",
    license="Apache-2.0",
)
