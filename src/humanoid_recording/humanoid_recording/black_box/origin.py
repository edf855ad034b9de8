"""The robot of a file of the black box, as its metadata.yaml states it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_recording.summary import FILE_NAME

UNKNOWN: Final = "–"
_DOMAIN: Final = "ros_domain_id"
_BACKEND: Final = "backend"
_NAMESPACE: Final = "namespace"


@dataclass(frozen=True, slots=True)
class Origin:
    """The robot's ROS domain, None if unknown; its backend, empty if unknown; its namespace."""

    domain: int | None
    backend: str
    namespace: str = ROOT

    @property
    def domain_text(self) -> str:
        """The domain as text."""
        return UNKNOWN if self.domain is None else str(self.domain)

    @property
    def backend_text(self) -> str:
        """The backend as text."""
        return self.backend or UNKNOWN

    def __str__(self) -> str:
        place = f", namespace {self.namespace}" if self.namespace else ""
        return f"ROS domain {self.domain_text}{place}, backend {self.backend_text}"

    def to_custom_data(self) -> dict[str, str]:
        """Return the entries for a bag's metadata; only for a known domain."""
        place = {_NAMESPACE: self.namespace} if self.namespace else {}
        return {_DOMAIN: str(self.domain), _BACKEND: self.backend, **place}


def read_origin(bag: Path) -> Origin:
    """Return the robot of `bag`; unknown where its metadata lack it, as in older files."""
    try:
        plain = read_yaml(bag / FILE_NAME).content
        custom = plain["rosbag2_bagfile_information"]["custom_data"]
        namespace = str(custom.get(_NAMESPACE, ROOT))
        return Origin(int(custom[_DOMAIN]), str(custom[_BACKEND]), namespace)
    except (ConfigError, ValueError, TypeError, KeyError, AttributeError):
        return Origin(None, "")
