"""Installs humanoid_controller_manager."""

from setuptools import Extension, find_packages, setup

package_name = "humanoid_controller_manager"

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={package_name: ["py.typed", "safety/*.pyi"]},
    ext_modules=[
        Extension(
            f"{package_name}.safety.limit_kernel",
            [f"{package_name}/safety/limit_kernel.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            # The same results on every machine: no fused multiply-add, for any CFLAGS.
            extra_compile_args=["-std=c11", "-fno-fast-math", "-ffp-contract=off"],
        )
    ],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
    ],
    install_requires=["humanoid_control_common", "humanoid_motion", "numpy", "pydantic>=2"],
    extras_require={"test": ["pytest"]},
    zip_safe=False,  # an extension module is a file
    maintainer="Humanoid Control maintainers",
    maintainer_email="maintainers@humanoid-control.org",
    description="Control loop of Humanoid Control, with the vocabulary of ros2_control.",
    license="Apache-2.0",
    entry_points={
        "humanoid_control.hardware": [
            f"mock_components/GenericSystem = {package_name}.hardware.generic_system:GenericSystem",
        ],
    },
)
