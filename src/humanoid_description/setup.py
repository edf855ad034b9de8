"""Installs humanoid_description."""

from glob import glob

from setuptools import find_packages, setup

package_name = "humanoid_description"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml", "README.md"]),
        (f"share/{package_name}/macros", sorted(glob("macros/*.xacro"))),
        (f"share/{package_name}/rviz", sorted(glob("rviz/*.rviz"))),
    ],
    install_requires=["xacro"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="What the descriptions of all robots share: xacro macros, rviz configuration.",
    license="Apache-2.0",
)
