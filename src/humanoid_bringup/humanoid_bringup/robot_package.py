"""Description of a robot by its bring-up package: `config/robot.yaml`, found by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ament_index_python.resources import get_resource, get_resources
from pydantic import Field

from humanoid_control_common.configuration.config import (
    StrictModel,
    check_yaml,
    read_yaml,
    validate,
)
from humanoid_control_common.description.mesh_references import with_absolute_meshes
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot import robot_description

RESOURCE: Final = "humanoid_control_robot"  # type in the ament index; content: the package name
DEFAULT: Final = "prime"
_HARDWARE: Final = "hardware_config"  # argument of the xacro files
_SHARED: Final = "humanoid_description"  # what the descriptions of all robots share


class Program(StrictModel):
    """An executable of a ROS package."""

    package: str
    executable: str


class Bus(StrictModel):
    """A bus of the robot; its name is a value of the option `backends`."""

    # "own": only a hardware component of the robot's own packages knows how its joints are reached.
    kind: Literal["ethercat", "can", "own"]
    joints: str  # the joints on it, for people


class _Description(StrictModel):
    package: str
    xacro: str  # below the share folder of `package`
    srdf: str | None = None  # the same; without it no links are kept apart


class _Drives(StrictModel):
    hardware: str
    calibration: str
    virtual_robot: str


class _Content(StrictModel):
    title: str
    description: _Description
    controllers: str  # below the share folder of the bring-up package, like the files of the drives
    drives: _Drives | None = None
    impedance_manager: Program | None = None
    buses: dict[str, Bus] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DriveFiles:
    """The facts of a robot's real drives."""

    hardware: Path
    calibration: Path
    virtual_robot: Path  # the actuators of the virtual robot


@dataclass(frozen=True, slots=True)
class RobotPackage:
    """Facts about a robot that a bring-up needs. All files are installed ones."""

    name: str  # the key in the ament index, as in `hc up --robot prime`
    title: str  # for people
    package: str  # the bring-up package, which has the launch files
    xacro_file: Path
    srdf_file: Path | None  # the pairs of its links that need no check; None: not checked at all
    custom_description: Path | None  # links and joints in the place of those of `xacro_file`
    rviz_file: Path
    controllers_file: Path
    drive_files: DriveFiles | None  # None: it has no drives on EtherCAT and CAN
    impedance_manager: Program | None  # of the joints whose gains are written per mode
    buses: Mapping[str, Bus]  # by name

    @property
    def drives(self) -> DriveFiles:
        """The files of its drives on EtherCAT and CAN. Raises ConfigError if it has no drives."""
        if self.has_own_buses_only:
            raise ConfigError(
                f"{self.title} has no drives on EtherCAT and CAN, and so no virtual robot: a "
                f"component of its own serves {', '.join(self.own_buses)}"
            )
        if self.drive_files is None or not self.buses:
            raise ConfigError(
                f"{self.title} has no drives, so it is for mujoco and mock only: add 'buses', and "
                f"for EtherCAT and CAN 'drives', to config/robot.yaml of {self.package}"
            )
        return self.drive_files

    @property
    def own_buses(self) -> tuple[str, ...]:
        """Names of the buses that only a component of its own packages knows."""
        return tuple(name for name, bus in self.buses.items() if bus.kind == "own")

    @property
    def has_own_buses_only(self) -> bool:
        """True for a robot with drives that needs no `drives` of EtherCAT and CAN."""
        return bool(self.buses) and len(self.own_buses) == len(self.buses)

    @property
    def ring(self) -> str | None:
        """Name of the bus that is an EtherCAT ring, if the robot has one."""
        return next((name for name, bus in self.buses.items() if bus.kind == "ethercat"), None)

    @property
    def can_buses(self) -> tuple[str, ...]:
        """Names of the CAN buses."""
        return tuple(name for name, bus in self.buses.items() if bus.kind == "can")

    def expand(self, arguments: Mapping[str, str]) -> str:
        """Return the robot's URDF, whose meshes are named so that any program finds them.

        Raises ConfigError, see `robot_description.expand` and `expand_custom`, and for a hardware
        file that is no YAML; MeshError for a mesh that is missing.
        """
        if _HARDWARE in arguments:
            check_yaml(Path(arguments[_HARDWARE]))  # xacro would name its own file
        own = robot_description.expand(self.xacro_file, arguments)
        if self.custom_description is not None:
            from humanoid_bringup.custom_description import expand_custom

            return expand_custom(self.custom_description, arguments, own)
        return with_absolute_meshes(own, self.xacro_file)


def installed_robots() -> list[str]:
    """Return the names of the robots that can be brought up here, sorted."""
    return sorted(get_resources(RESOURCE))


def find_robot(name: str = DEFAULT, description: str = "") -> RobotPackage:
    """Return the robot of this name; `description` replaces its links and joints, if given.

    See `find_description`.

    Raises ConfigError for a robot that is not installed, with those that are, for a `robot.yaml`
    that is wrong, and a description that is not there.
    """
    installed = installed_robots()
    if name not in installed:
        known = ", ".join(installed) or "none: build the workspace (`make build`)"
        raise ConfigError(f"there is no robot '{name}'; installed: {known}")
    package = get_resource(RESOURCE, name)[0].strip()
    share = robot_description.share_folder(package)
    content = validate(_Content, read_yaml(share / "config/robot.yaml"))
    own = robot_description.share_folder(content.description.package)
    custom = None
    if description:
        from humanoid_bringup.custom_description import find_description

        custom = find_description(description)
    srdf = None if description else content.description.srdf
    return RobotPackage(
        name=name,
        title=content.title,
        package=package,
        xacro_file=own / content.description.xacro,
        srdf_file=None if srdf is None else own / srdf,
        custom_description=custom,
        rviz_file=robot_description.share_folder(_SHARED) / "rviz/robot.rviz",
        controllers_file=share / content.controllers,
        drive_files=None if content.drives is None else _files(content.drives, share),
        impedance_manager=content.impedance_manager,
        buses=content.buses,
    )


def _files(drives: _Drives, share: Path) -> DriveFiles:
    return DriveFiles(
        hardware=share / drives.hardware,
        calibration=share / drives.calibration,
        virtual_robot=share / drives.virtual_robot,
    )
