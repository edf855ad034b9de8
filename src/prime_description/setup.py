"""Installs prime_description."""

from pathlib import Path

from setuptools import find_packages, setup

package_name = "prime_description"


def installed_as_is(*folders: str) -> list[tuple[str, list[str]]]:
    """One data_files entry per folder, with its files, under share/.

    A build with symbolic links keeps those to files that were removed.
    """
    return [
        (
            f"share/{package_name}/{folder}",
            sorted(str(f) for f in Path(folder).glob("*.*") if f.exists()),
        )
        for folder in folders
    ]


setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml", "README.md"]),
        *installed_as_is(
            "robots/prime_dummy/xacro", "robots/prime_dummy/config", "robots/prime_dummy/srdf"
        ),
    ],
    install_requires=["humanoid_control_common", "humanoid_description", "xacro"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="The robot Prime: URDF, ros2_control blocks.",
    license="Apache-2.0",
)
