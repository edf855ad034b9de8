"""Requests to the control process: load a controller, unload one."""

import os
from pathlib import Path
from typing import Final, NamedTuple

from humanoid_control_msgs.srv import LoadController, UnloadController

from humanoid_control_cli.client import Client
from humanoid_control_common.rules.modes import Mode

LOAD: Final = "controller_manager/load_file"
UNLOAD: Final = "controller_manager/unload"
_WAYS_IN: Final = {
    Mode.ZERO_TORQUE: "in DAMPING: hc mode zero_torque",
    Mode.DAMPING: "hc mode damp",
    Mode.STANDBY: "in DAMPING: hc mode load",
    Mode.LOCOMOTION: "in a finished STANDBY: hc mode locomotion",
    Mode.REMOTE: "in a finished STANDBY: hc mode remote",
}


class LoadResult(NamedTuple):
    """The answer to a controller that is loaded."""

    message: str
    way_in: str  # the command that puts it in charge


def load_file(client: Client, file: Path) -> LoadResult:
    """Load the controller of `file`, or the loaded one of this name.

    The plug-in of a file may be in a workspace that this shell sourced.

    Raises RefusedError with the reason, NoAnswerError.
    """
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    word = str(file.resolve() if file.is_file() else file)
    request = LoadController.Request(file=word, python_folders=folders)
    answer = client.accepted(LoadController, LOAD, request)
    return LoadResult(answer.message, _WAYS_IN[Mode(answer.mode)])


def unload_controller(client: Client, name: str) -> str:
    """Unload controller `name`; return what changed. Raises RefusedError, NoAnswerError."""
    request = UnloadController.Request(name=name)
    return str(client.accepted(UnloadController, UNLOAD, request).message)
