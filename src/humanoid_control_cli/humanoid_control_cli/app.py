"""The commands of `hc`. Whatever is slow to load is loaded by the command that needs it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from humanoid_control_common.modes import Mode

app = typer.Typer(
    help="Humanoid Control: bring Prime up, look at it, change its mode.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # main.py tells errors
    rich_markup_mode=None,
)


class Backend(StrEnum):
    """What `hc up` can bring up in this version."""

    MUJOCO = "mujoco"
    MOCK = "mock"


class InitialMode(StrEnum):
    """Modes a robot may start in."""

    ZERO_TORQUE = "zero_torque"
    DAMPING = "damping"


class Wish(StrEnum):
    """What `hc mode` can ask for."""

    DAMP = "damp"
    LOAD = "load"
    STANDBY = "standby"
    REMOTE = "remote"
    START_REMOTE = "start_remote"
    LOCOMOTION = "locomotion"
    START_LOCOMOTION = "start_locomotion"
    ZERO_TORQUE = "zero_torque"
    QUIT = "quit"


MODE_OF: Final = {
    Wish.DAMP: Mode.DAMPING,
    Wish.LOAD: Mode.STANDBY,
    Wish.STANDBY: Mode.STANDBY,
    Wish.REMOTE: Mode.REMOTE,
    Wish.START_REMOTE: Mode.REMOTE,
    Wish.LOCOMOTION: Mode.LOCOMOTION,
    Wish.START_LOCOMOTION: Mode.LOCOMOTION,
    Wish.ZERO_TORQUE: Mode.ZERO_TORQUE,
}

Timeout = Annotated[
    float, typer.Option(min=0.1, help="Seconds to wait for the control process to answer.")
]


def _file(what: str) -> Any:
    return typer.Option(exists=True, dir_okay=False, resolve_path=True, metavar="FILE", help=what)


@app.command()
def up(  # noqa: PLR0913, PLR0917 - one argument for each option
    backend: Annotated[Backend, typer.Argument(help="What moves the joints.")],
    rtf: Annotated[
        float, typer.Option(min=0.0, help="Simulated seconds per second; 0: as fast as possible.")
    ] = 1.0,
    viewer: Annotated[bool, typer.Option(help="Show the robot in the browser.")] = True,
    initial_mode: Annotated[
        InitialMode, typer.Option(help="The mode to start in.")
    ] = InitialMode.ZERO_TORQUE,
    controllers: Annotated[Path | None, _file("Controllers and their parameters.")] = None,
    hardware: Annotated[Path | None, _file("Which drive moves which joint.")] = None,
    calibration: Annotated[Path | None, _file("Directions and homing offsets.")] = None,
    host: Annotated[str, typer.Option(help="Address the viewer listens on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the viewer, or the next free one.")
    ] = 8080,
) -> None:
    """Bring Prime up and keep it running until Ctrl-C."""
    if backend is Backend.MOCK and rtf != 1.0:
        raise typer.BadParameter("mock hardware has no simulated time", param_hint="'--rtf'")
    from humanoid_bringup_prime import bringup
    from humanoid_control_cli.bring_up import bring_up

    options = bringup.Options(
        backend=bringup.Backend[backend.name],
        real_time_factor=rtf,
        initial_mode=Mode[initial_mode.name],
        viewer=viewer,
        viewer_host=host,
        viewer_port=port,
        controllers_file=controllers,
        hardware_config=hardware,
        calibration_file=calibration,
    )
    raise typer.Exit(bring_up(options))


@app.command()
def mode(
    wish: Annotated[
        Wish | None, typer.Argument(help="What to ask for; without it the mode in force is shown.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until STANDBY is finished, or all has stopped.")
    ] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Show the mode in force, or ask for another one. Exit code 1: refused, or no answer."""
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.mode_client import ModeClient

    with Client(timeout) as client:
        modes = ModeClient(client)
        if wish is None:
            typer.echo(modes.statement())
        elif wish is Wish.QUIT:
            typer.echo(modes.quit(wait=wait))
        else:
            before = modes.statement()
            now = modes.request(MODE_OF[wish])
            already = now.switch_number == before.switch_number
            typer.echo(f"already in {now}" if already else now)
            if wait and now.mode is Mode.STANDBY:
                modes.wait_for_ready_pose(now)
                typer.echo("STANDBY is finished")


@app.command()
def clear_fault(timeout: Timeout = 5.0) -> None:
    """Reset drive faults and let requests in again after a fall to DAMPING."""
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.mode_client import CLEAR_FAULT

    with Client(timeout) as client:
        typer.echo(client.trigger(CLEAR_FAULT))


@app.command()
def status(timeout: Timeout = 5.0) -> None:
    """Show mode, safety, timing and joints. Exit code 1: something of it is missing."""
    from rich.console import Console

    from humanoid_control_cli.client import Client
    from humanoid_control_cli.status import collect
    from humanoid_control_cli.status_view import render

    with Client(timeout) as client:
        found = collect(client)
    Console(markup=False, highlight=False).print(render(found))
    if not found.complete:
        raise typer.Exit(1)


@app.command()
def version() -> None:
    """Show the versions that a bug report should name."""
    from humanoid_control_cli.versions import versions

    for name, value in versions().items():
        typer.echo(f"{name:<18}{value}")
