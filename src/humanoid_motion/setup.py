"""Installs humanoid_motion."""

from setuptools import find_packages, setup

package_name = "humanoid_motion"

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
        "mujoco",
        "numpy",
        "pydantic>=2",
        "PyYAML",
        "ruckig",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Trajectories and jerk-limited ways of Humanoid Control.",
    license="Apache-2.0",
)
