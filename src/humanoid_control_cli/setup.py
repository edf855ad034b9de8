"""Installs humanoid_control_cli."""

from setuptools import find_packages, setup

package_name = "humanoid_control_cli"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={
        package_name: ["py.typed"],
        f"{package_name}.new_controller": ["template/*.template"],
        f"{package_name}.new_robot": ["template/*.template"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=[
        "humanoid_bringup",
        "humanoid_bringup_prime",
        "humanoid_control_common",
        "humanoid_controller_manager",
        "humanoid_controllers",
        "humanoid_devices_can",
        "humanoid_devices_erob",
        "humanoid_devices_mujoco",
        "humanoid_joint_client",
        "humanoid_motion",
        "humanoid_policy",
        "humanoid_recording",
        "humanoid_servo_controllers",
        "humanoid_twin",
        "humanoid_viz",
        "numpy",
        "PyYAML",
        "rich",
        "typer",
    ],
    extras_require={"test": ["pytest"]},
    entry_points={"console_scripts": [f"hc = {package_name}.main:main"]},
    zip_safe=False,  # the templates are read as files
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="The command line of Humanoid Control, `hc`.",
    license="Apache-2.0",
)
