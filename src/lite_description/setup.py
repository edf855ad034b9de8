"""Installs lite_description."""

from glob import glob

from setuptools import find_packages, setup

package_name = "lite_description"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml", "README.md"]),
        (f"share/{package_name}/urdf", sorted(glob("urdf/*.xacro"))),
        (f"share/{package_name}/srdf", sorted(glob("srdf/*.srdf"))),
        (f"share/{package_name}/config", sorted(glob("config/*.yaml"))),
    ],
    install_requires=["humanoid_description", "xacro"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="The robot Lite: URDF, ros2_control blocks.",
    license="Apache-2.0",
)
