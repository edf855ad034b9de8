"""Installs humanoid_policy."""

from setuptools import find_packages, setup

package_name = "humanoid_policy"

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
        "humanoid_motion",
        "numpy",
        "onnxruntime",
        "pydantic>=2",
    ],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Learned policies of Humanoid Control: metadata, observation, inference.",
    license="Apache-2.0",
)
