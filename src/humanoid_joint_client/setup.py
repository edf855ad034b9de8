"""Installs humanoid_joint_client, in the workspace or alone by pip."""

from setuptools import find_packages, setup

package_name = "humanoid_joint_client"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed", "joint_stream.proto"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    python_requires=">=3.11",
    install_requires=["grpcio>=1.51", "numpy", "protobuf>=3.20"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Client of the joint stream: commands and state of a robot without ROS.",
    license="Apache-2.0",
)
