"""Installs humanoid_stepped."""

from setuptools import find_packages, setup

package_name = "humanoid_stepped"

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
        "humanoid_bringup_prime",
        "humanoid_control_common",
        "humanoid_controller_manager",
        "humanoid_controllers",
        "humanoid_devices_can",
        "humanoid_devices_erob",
        "humanoid_recording",
        "humanoid_twin",
        "greenlet",
        "pysoem",
        "python-can",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="The whole robot in one process on one simulated clock.",
    license="Apache-2.0",
)
