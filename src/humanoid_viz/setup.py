"""Installs humanoid_viz."""

from setuptools import find_packages, setup

package_name = "humanoid_viz"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"], f"{package_name}.page": ["panel.css"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["humanoid_control_common", "numpy", "rich", "viser", "websockets"],
    extras_require={"test": ["pytest"]},
    entry_points={
        "console_scripts": [
            "still_model = humanoid_viz.main:still_model",
            "status_marker = humanoid_viz.main:status_marker",
            "viewer = humanoid_viz.main:main",
        ]
    },
    zip_safe=False,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Browser viewer and operator panel of Humanoid Control.",
    license="Apache-2.0",
)
