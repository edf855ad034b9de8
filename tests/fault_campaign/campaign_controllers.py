"""Controllers of the campaign: Prime's own, a quicker STANDBY, and a REMOTE that can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml
from ament_index_python.packages import get_package_share_directory

PLUGIN: Final = Path(__file__).with_name("plugin")  # a folder for PYTHONPATH
REMOTE: Final = "remote_policy_controller"
DAMPING: Final = "damping_controller"
_SHIPPED: Final = "config/prime_controllers.yaml"
_DURATIONS: Final = {"clear": 0.6, "ready": 0.5}  # [s]


def write_controllers(folder: Path) -> Path:
    """Write the controllers' file into `folder`."""
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    content = yaml.safe_load((share / _SHIPPED).read_text(encoding="utf-8"))
    content["controller_manager"]["ros__parameters"][REMOTE]["type"] = (
        "faults/FaultyRemoteController"
    )
    controllers = content["controller_manager"]["ros__parameters"]
    controllers[DAMPING] = {"type": "faults/FaultyDampingController"}  # the default fallbacks
    poses = content["standby_controller"]["ros__parameters"]["poses"]
    for pose, seconds in _DURATIONS.items():
        poses[pose]["duration"] = seconds
    # The disk they are on is small; each is removed when it was read, which may take its time.
    content["black_box"] = {"ros__parameters": {"most_files": 8, "most_megabytes": 40.0}}
    file = folder / "campaign_controllers.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
