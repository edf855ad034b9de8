"""Installs humanoid_control_common."""

from setuptools import find_packages, setup

package_name = "humanoid_control_common"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed", "middleware/*.xml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["numpy", "pycollada", "pydantic>=2", "PyYAML", "trimesh", "xacro"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Values and rules of Humanoid Control.",
    license="Apache-2.0",
)
