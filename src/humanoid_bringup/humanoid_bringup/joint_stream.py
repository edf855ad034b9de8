"""The server of the joint stream in a bring-up: its process, and the controller that it loads."""

from pathlib import Path
from typing import Final

from humanoid_bringup.controllers_file import node_section
from humanoid_bringup.executables import write_parameters
from humanoid_bringup.options import Process
from humanoid_control_common.configuration.config import Document

CONTROLLER: Final = "joint_stream_controller"


def server(document: Document, controllers: Path, folder: Path, namespace: str) -> Process:
    """Return the server's process.

    Its controller replaces the others in REMOTE. `document` is the content of `controllers`, which
    has the parameters of both.

    Raises ConfigError if the robot has no parameters for the controller.
    """
    own = node_section(document, CONTROLLER, namespace).content
    controller = write_parameters(folder, CONTROLLER, own, namespace)
    mine = write_parameters(folder, "joint_stream", {"controller_file": str(controller)}, namespace)
    where = "humanoid_joint_stream", "joint_stream"
    files = (controllers, mine)
    # A new one is safe: its clients must activate it again, and the controller has its fallback.
    return Process(
        "joint_stream", *where, files, required=False, namespace=namespace, restarts=True
    )
