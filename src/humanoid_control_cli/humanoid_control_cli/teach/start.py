"""Put the teach controller in charge of REMOTE."""

from pathlib import Path
from typing import Final

from ament_index_python.packages import get_package_share_directory

from humanoid_control_cli.client import Client
from humanoid_control_cli.controllers.requests import load_file
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.modes import Intent, Mode

CONTROLLER: Final = "teach_controller"
PACKAGE: Final = "humanoid_controllers"


def start_teaching(client: Client, modes: ModeClient) -> StampedStatement:
    """Load the teach controller and start it; return the statement that it is in charge.

    Raises RefusedError outside of STANDBY and if the robot refuses, NoAnswerError.
    """
    before = modes.statement()
    if before.mode is Mode.REMOTE and before.controller == CONTROLLER:
        return before
    if before.mode is not Mode.STANDBY:
        raise RefusedError(
            f"in force is {before.in_force}, expected STANDBY: "
            "hc mode damp, hc mode standby --wait, then hc mode teach"
        )
    load_file(client, Path(get_package_share_directory(PACKAGE)) / "config/teach.yaml")
    return modes.request(Intent.START_REMOTE)
