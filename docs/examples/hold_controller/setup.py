"""Installs hold_controller."""

from setuptools import setup

package_name = "hold_controller"

setup(
    name=package_name,
    version="0.1.0",
    packages=[package_name],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
        (f"share/{package_name}/config", ["config/hold_controller.yaml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Example: a controller of one's own for Humanoid Control.",
    license="Apache-2.0",
    entry_points={
        # The name is the `type` in the controllers' YAML.
        "humanoid_control.controllers": [
            f"hold_controller/HoldController = {package_name}.hold:HoldController",
        ],
    },
)
