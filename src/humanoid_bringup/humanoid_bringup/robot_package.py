"""Description of a robot by its bring-up package: `config/robot.yaml`, found by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ament_index_python.resources import get_resource, get_resources

from humanoid_bringup.given_description import expand_given, find_description
from humanoid_control_common import robot_description
from humanoid_control_common.config import StrictModel, read_yaml, validate
from humanoid_control_common.description.mesh_references import with_absolute_meshes
from humanoid_control_common.errors import ConfigError

RESOURCE: Final = "humanoid_control_robot"  # type in the ament index; its content is the package
DEFAULT: Final = "prime"


class Program(StrictModel):
    """An executable of a ROS package."""

    package: str
    executable: str


class _Description(StrictModel):
    package: str
    xacro: str  # below the share folder of `package`, like `rviz`
    rviz: str


class _Content(StrictModel):
    title: str
    description: _Description
    controllers: str  # below the share folder of the bring-up package, like the next two
    hardware: str
    calibration: str
    impedance_manager: Program
    buses: dict[str, str]


@dataclass(frozen=True, slots=True)
class RobotPackage:
    """Facts about a robot that a bring-up needs. All files are installed ones."""

    name: str  # the key in the ament index, as in `hc up --robot prime`
    title: str  # for people
    package: str  # the bring-up package, which has the launch files
    xacro_file: Path
    given_description: Path | None  # links and joints in the place of those of `xacro_file`
    rviz_file: Path
    controllers_file: Path
    hardware_file: Path
    calibration_file: Path
    impedance_manager: Program  # of the joints whose gains are written per mode
    buses: Mapping[str, str]  # the joints on each bus, for people, by the bus's name

    def expand(self, arguments: Mapping[str, str]) -> str:
        """Return the robot's URDF, whose meshes are named so that any program finds them.

        Raises ConfigError, see `robot_description.expand` and `expand_given`; MeshError for a mesh
        that is missing.
        """
        own = robot_description.expand(self.xacro_file, arguments)
        if self.given_description is not None:
            return expand_given(self.given_description, arguments, own)
        return with_absolute_meshes(own, self.xacro_file)


def installed_robots() -> list[str]:
    """Names of the robots that can be brought up here, sorted."""
    return sorted(get_resources(RESOURCE))


def find_robot(name: str = DEFAULT, description: str = "") -> RobotPackage:
    """Return the robot of this name; `description` replaces its links and joints, if given.

    See `find_description`.

    Raises ConfigError for a robot that is not installed, with those that are, for a `robot.yaml`
    that is wrong, and a description that is not there.
    """
    try:
        package = get_resource(RESOURCE, name)[0].strip()
    except LookupError:
        known = ", ".join(installed_robots()) or "none: build the workspace (`make build`)"
        raise ConfigError(f"there is no robot '{name}'; installed: {known}") from None
    share = robot_description.share_folder(package)
    content = validate(_Content, read_yaml(share / "config/robot.yaml"))
    own = robot_description.share_folder(content.description.package)
    return RobotPackage(
        name=name,
        title=content.title,
        package=package,
        xacro_file=own / content.description.xacro,
        given_description=find_description(description) if description else None,
        rviz_file=own / content.description.rviz,
        controllers_file=share / content.controllers,
        hardware_file=share / content.hardware,
        calibration_file=share / content.calibration,
        impedance_manager=content.impedance_manager,
        buses=content.buses,
    )
