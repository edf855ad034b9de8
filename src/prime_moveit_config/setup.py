"""Installs prime_moveit_config."""

from glob import glob

from setuptools import find_packages, setup

package_name = "prime_moveit_config"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml", "README.md", ".setup_assistant"]),
        (f"share/{package_name}/config", sorted(glob("config/*"))),
        (f"share/{package_name}/launch", sorted(glob("launch/*.launch.py"))),
    ],
    install_requires=["humanoid_bringup_prime", "prime_description", "xacro"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="MoveIt's configuration of Prime.",
    license="Apache-2.0",
)
