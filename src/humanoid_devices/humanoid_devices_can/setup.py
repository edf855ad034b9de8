"""Installs humanoid_devices_can."""

from setuptools import find_packages, setup

package_name = "humanoid_devices_can"

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
        "msgpack",
        "numpy",
        "pyserial",
        "python-can",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="What MIT motors on a CAN bus have in common.",
    license="Apache-2.0",
)
