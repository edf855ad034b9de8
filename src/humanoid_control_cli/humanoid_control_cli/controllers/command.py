"""Commands that load a controller into a running robot, and unload it."""

from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.robot.command import Timeout


def load(
    file: Annotated[
        Path,
        typer.Argument(help="YAML file of one controller: type and parameters; or its name."),
    ],
    timeout: Timeout = 10.0,
) -> None:
    """Load a controller into the running robot; it replaces those of its mode with its joints.

    A controller that is loaded already needs its name only.

    Its mode must not be in force. The workspace with its plugin must be sourced in this shell, or
    in the one that started the robot. Code that the robot has imported already stays as it was:
    after a change of it, restart the robot. Exit code 1: refused, and nothing is changed.
    """
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.controllers.requests import load_file

    if not file.is_file() and (file.suffix or file != Path(file.name)):
        raise typer.BadParameter(f"file '{file}' does not exist")
    with Client(timeout) as client:
        loaded = load_file(client, file)
    typer.echo(loaded.message)
    typer.echo(f"next: {loaded.way_in}")


def unload(
    name: Annotated[str, typer.Argument(help="The controller's name.")],
    timeout: Timeout = 10.0,
) -> None:
    """Unload a controller from the running robot. Its mode must not be in force."""
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.controllers.requests import unload_controller

    with Client(timeout) as client:
        typer.echo(unload_controller(client, name))
