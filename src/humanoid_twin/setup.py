"""Installs humanoid_twin."""

from setuptools import find_packages, setup

package_name = "humanoid_twin"

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
        "humanoid_devices_erob",
        "humanoid_devices_robstride",
        "humanoid_devices_sito",
        "mujoco",
        "numpy",
        "pydantic>=2",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="The virtual robot: answers on the wire like Prime's drives.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            f"can = {package_name}.can.main:main",
            f"ring = {package_name}.ethercat.main:main",
            f"robot = {package_name}.robot.main:main",
            f"truth = {package_name}.truth_node:main",
        ],
    },
)
