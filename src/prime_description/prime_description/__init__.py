"""The robot Prime as URDF: geometry, masses, limits and <ros2_control> blocks."""

from collections.abc import Mapping
from pathlib import Path

from humanoid_control_common.robot import robot_description

PACKAGE = "prime_description"
XACRO_FILE = Path("robots/prime_dummy/xacro/prime_dummy.urdf.xacro")


def expand(mappings: Mapping[str, str], xacro_file: Path | None = None) -> str:
    """Expand Prime's own xacro file, or `xacro_file`; see `robot_description.expand`."""
    path = xacro_file or robot_description.share_folder(PACKAGE) / XACRO_FILE
    return robot_description.expand(path, mappings)
