"""`hc record`, `hc replay` and `hc view`: their options."""

import math
import time
from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.domain import robot_namespace
from humanoid_control_cli.up.viewer_address import Host, Port, TokenFile
from humanoid_control_common.robot.robot_namespace import absolute
from humanoid_recording.topics import OBSERVATIONS


def record(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="The bag to make: a folder that does not exist yet.",
            show_default="prime_ and the time",
        ),
    ] = None,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            metavar="TOPIC",
            help="Topic to record; repeatable. A relative name is in the namespace.",
            show_default="the robot's own topics",
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="How long.", show_default="until Ctrl-C")
    ] = None,
) -> None:
    """Record the robot's topics, for `hc replay`, `ros2 bag` and Foxglove.

    Topics are recorded from when they appear. Exit code 1: nothing, or not all, was recorded.
    """
    from humanoid_control_cli.bag.record import record as run

    name = Path(time.strftime("prime_%Y-%m-%d_%H-%M-%S"))
    names = [absolute(robot_namespace(), topic) for topic in topics or OBSERVATIONS]
    run(folder or name, names, math.inf if seconds is None else seconds, typer.echo)


def replay(  # noqa: PLR0913, PLR0917 - one argument for each option
    bag: Annotated[
        Path,
        typer.Argument(exists=True, metavar="BAG", help="Folder of a bag, or an MCAP file."),
    ],
    rate: Annotated[float, typer.Option(min=0.001, help="Recorded seconds per second.")] = 1.0,
    loop: Annotated[bool, typer.Option("--loop", help="Begin again at the end.")] = False,
    stay: Annotated[
        bool,
        typer.Option(
            "--stay",
            help="Keep latched topics after the end, for later subscribers; with --viewer, too.",
        ),
    ] = False,
    until: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SECONDS",
            help="Stop so many recorded seconds after the beginning; with --stay, keep that state.",
            show_default="the end",
        ),
    ] = None,
    viewer: Annotated[bool, typer.Option("--viewer", help="Show it in the browser.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    token_file: TokenFile = None,
) -> None:
    """Publish a recording again: states, modes, diagnostics; never commands or requests.

    Refused where a robot is up; ends when one comes up.
    """
    from humanoid_bringup.viewers.viewer_processes import ViewerAddress
    from humanoid_control_cli.bag.in_viewer import show_replay
    from humanoid_control_cli.bag.replay import Options
    from humanoid_control_cli.bag.replay import replay as run

    options = Options(bag, rate, loop, stay or viewer, math.inf if until is None else until)
    if viewer:
        raise typer.Exit(show_replay(options, ViewerAddress(host, port, token_file)))
    run(options, typer.echo)


def view(host: Host = "127.0.0.1", port: Port = 8080, token_file: TokenFile = None) -> None:
    """Show a robot that is up, on this machine or another one, in the browser."""
    from humanoid_bringup.viewers.viewer_processes import ViewerAddress
    from humanoid_control_cli.up.viewer_beside import show

    raise typer.Exit(show(ViewerAddress(host, port, token_file)))
