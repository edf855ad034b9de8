"""Installs humanoid_bringup."""

from setuptools import find_packages, setup

package_name = "humanoid_bringup"

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
        "humanoid_controllers",
        "humanoid_description",
        "humanoid_devices_erob",
        "humanoid_joint_stream",
        "humanoid_motion",
        "humanoid_recording",
        "humanoid_twin",
        "humanoid_viz",
        "numpy",
        "pydantic>=2",
        "python-can",
        "PyYAML",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Bring-up of any robot of Humanoid Control.",
    license="Apache-2.0",
)
