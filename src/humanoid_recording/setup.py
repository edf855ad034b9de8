"""Installs humanoid_recording."""

from setuptools import find_packages, setup

package_name = "humanoid_recording"

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
        "lz4",
        "mcap",
        "numpy",
        "pydantic>=2",
        "PyYAML",
        "zstandard",
    ],
    extras_require={"test": ["pytest"]},
    entry_points={"console_scripts": [f"black_box = {package_name}.black_box.main:main"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Bags of Humanoid Control, and the black box that writes one when something fails.",
    license="Apache-2.0",
)
