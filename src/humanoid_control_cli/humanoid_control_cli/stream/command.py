"""`hc stream`: the joint stream of a running robot."""

from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.errors import RefusedError

app = typer.Typer(
    help="Measure the joint stream of a robot that runs with --joint-stream.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def stream() -> None:
    """Measure the joint stream of a robot that runs with --joint-stream."""


@app.command()
def latency(
    seconds: Annotated[float, typer.Option(min=0.1, help="Duration [s].")] = 5.0,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Also command: REMOTE holds the present pose, then DAMPING. Needs a finished "
            "STANDBY.",
        ),
    ] = False,
    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Of another machine.", show_default="this one")
    ] = "",
    certificate: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The server's, for HOST:PORT."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Token, for HOST:PORT.")
    ] = None,
) -> None:
    """Measure the stream of states, and with --hold also the way of commands."""
    from humanoid_control_cli.domain import robot_namespace
    from humanoid_control_cli.stream.measure import measured
    from humanoid_control_common.configuration.config import read_secret
    from humanoid_joint_client import JointStreamError
    from humanoid_joint_client.address import local_address

    token = read_secret(token_file).strip() if token_file else ""
    try:
        place = address or local_address(namespace=robot_namespace())
        for line in measured(place, certificate, token, seconds, hold=hold):
            typer.echo(line)
    except JointStreamError as error:
        raise RefusedError(str(error)) from error
