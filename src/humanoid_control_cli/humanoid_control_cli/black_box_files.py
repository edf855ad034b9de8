"""The files of the black box: those that are there, and one more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from std_srvs.srv import Trigger

from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_recording.black_box.store import Store, default_folder
from humanoid_recording.black_box.story import read_reasons
from humanoid_recording.whole_writes import BagError

SERVICE: Final = "/black_box/save"


@dataclass(frozen=True, slots=True)
class Row:
    """One file in a list."""

    name: str
    size: int  # [bytes]
    reasons: tuple[str, ...]
    fault: float  # [s] since the epoch


def all_files(folder: Path | None) -> list[Row]:
    """The files, latest first. Raises BagError if there is none."""
    return [
        Row(path.name, sum(part.stat().st_size for part in path.iterdir()), *read_reasons(path))
        for path in _files(folder)
    ]


def found(file: Path | None, folder: Path | None) -> Path:
    """The file of that name or path; without one, the latest. Raises BagError if there is none."""
    if file is None:
        return _files(folder)[0]
    for path in (file, (folder or default_folder()) / file):
        if path.exists():
            return path
    raise BagError(f"{file}: no such file, here or in {folder or default_folder()}")


def ask_to_save(timeout: float) -> str:
    """Where the new file is. Raises RobotError: nobody answers, or there is none."""
    absent = NoAnswerError(
        f"no black box answers on ROS_DOMAIN_ID {ros_domain()} within {timeout:g} s: "
        "`hc up` starts one beside the robot unless told not to"
    )
    with Client(timeout) as client:
        response = client.call(Trigger, SERVICE, Trigger.Request(), absent)
    if not response.success:
        raise RefusedError(response.message)
    return f"saved {response.message}"


def _files(folder: Path | None) -> list[Path]:
    store = Store(folder or default_folder())
    files = store.files()
    if not files:
        raise BagError(f"{store.folder}: no files of a black box there")
    return files
