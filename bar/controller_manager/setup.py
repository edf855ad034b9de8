"""Installs the Python half of ros2_control's controller_manager, linked from src/external."""

from setuptools import setup

package_name = "controller_manager"

setup(
    name=package_name,
    version="4.46.0",
    packages=[package_name],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="The Python half of ros2_control's controller_manager.",
    license="Apache-2.0",
    # The names of upstream's setup.cfg.
    entry_points={
        "console_scripts": [
            f"{name} = {package_name}.{name}:main"
            for name in ("spawner", "unspawner", "hardware_spawner")
        ],
    },
)
