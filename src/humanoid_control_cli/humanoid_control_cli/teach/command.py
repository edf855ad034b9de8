"""Commands that record a motion by hand, and play it."""

import math
from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.interrupts import importing
from humanoid_control_cli.robot.command import Timeout


def teach(
    name: Annotated[
        Path, typer.Argument(metavar="NAME", help="Folder to make: the name of the motion.")
    ],
    seconds: Annotated[
        float | None, typer.Option(min=0.5, help="How long.", show_default="until Ctrl-C")
    ] = None,
    timeout: Timeout = 5.0,
) -> None:
    """Record a motion while the arms are guided by hand: `hc mode teach` first.

    Writes NAME/recording, a bag, and NAME/motion.yaml: few points, smooth and within limits, for
    `hc play` and an editor. Exit code 1: refused, or nothing has moved.
    """
    with importing():
        from humanoid_control_cli.teach.recording import teach as run

    run(name, math.inf if seconds is None else seconds, timeout, typer.echo)


def play(
    name: Annotated[
        Path,
        typer.Argument(exists=True, metavar="NAME", help="Folder of a motion, or its motion.yaml."),
    ],
    speed: Annotated[
        float, typer.Option("--speed", min=0.01, max=10.0, help="Times the speed of the motion.")
    ] = 1.0,
    timeout: Timeout = 5.0,
) -> None:
    """Play a motion in REMOTE, from the present pose.

    All of it is checked before anything moves: the file, limits, self-collision. Needs a trajectory
    controller: docs/trajectories.md. Ctrl-C stops the joints on their way. Exit code 1: refused, or
    it ended otherwise.
    """
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.motion.carrying_out import carry_out
        from humanoid_control_cli.motion.trajectory_client import TrajectoryClient
        from humanoid_control_cli.teach.playing import begin, playable

    with Client(timeout) as client:
        motion = playable(client, name, speed)
        trajectories = TrajectoryClient(client)
        code = carry_out(
            trajectories,
            lambda: begin(client, trajectories, motion, speed),
            "plays for {duration:.1f} s, with the way to its beginning",
            typer.echo,
        )
    raise typer.Exit(code)
