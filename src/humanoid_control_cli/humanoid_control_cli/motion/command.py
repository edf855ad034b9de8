"""Commands that move joints of a robot in REMOTE, by a trajectory controller."""

import math
from typing import Annotated

import typer

from humanoid_control_cli.interrupts import importing
from humanoid_control_cli.robot.command import Timeout
from humanoid_control_cli.terminal_keys import has_keys


def _targets(words: list[str]) -> dict[str, float]:
    """Return the angles by joint. Raises BadParameter for a word that is no JOINT=ANGLE."""
    found: dict[str, float] = {}
    for word in words:
        name, equals, angle = word.partition("=")
        try:
            value = float(angle)
        except ValueError:
            equals = ""
        if not (name and equals):
            raise typer.BadParameter(f"'{word}', expected JOINT=ANGLE: left_elbow_pitch=-0.9")
        if not math.isfinite(value):
            raise typer.BadParameter(f"'{word}', expected a finite number")
        if name in found:
            raise typer.BadParameter(f"'{name}' is given twice")
        found[name] = value
    return found


def move(
    targets: Annotated[
        list[str], typer.Argument(metavar="JOINT=ANGLE…", help="Angles of joints [rad].")
    ],
    time: Annotated[
        float, typer.Option("--time", min=0.0, metavar="S", help="Seconds it takes at least.")
    ] = 0.0,
    speed: Annotated[
        float | None,
        typer.Option("--speed", min=0.001, metavar="RAD_S", help="Speed of each joint at most."),
    ] = None,
    timeout: Timeout = 5.0,
) -> None:
    """Move joints to angles in REMOTE; the others hold. Without options: as fast as limits permit.

    Needs a trajectory controller: docs/trajectories.md. Ctrl-C stops the joints on their way. Exit
    code 1: refused, or the motion ended otherwise.
    """
    angles = _targets(targets)
    if time and speed:
        raise typer.BadParameter("give --time or --speed, not both", param_hint="'--speed'")
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.motion.carrying_out import carry_out
        from humanoid_control_cli.motion.trajectory_client import TrajectoryClient

    with Client(timeout) as client:
        motion = TrajectoryClient(client)
        code = carry_out(
            motion,
            lambda: motion.move(angles, time, speed or 0.0),
            "moves for {duration:.2f} s",
            typer.echo,
        )
    raise typer.Exit(code)


def jog(
    joint: Annotated[str, typer.Argument(metavar="JOINT", help="Joint to move.")],
    speed: Annotated[
        float, typer.Option("--speed", min=0.001, metavar="RAD_S", help="Speed [rad/s].")
    ] = 0.1,
    timeout: Timeout = 5.0,
) -> None:
    """Move a joint in REMOTE while a key is held: arrow up to larger angles, arrow down to smaller.

    Any other key stops, q ends. A key counts as held for 0.5 s after it is pressed, and for 0.15 s
    after each repetition of the terminal. 0.2 s later, or 0.2 s after this program is killed, the
    joint comes to rest.
    """
    if not has_keys():
        raise typer.BadParameter("needs a terminal, for its keys", param_hint="'hc jog'")
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.motion.jog import jog as run
        from humanoid_control_cli.motion.trajectory_client import TrajectoryClient

    with Client(timeout) as client:
        jogged = TrajectoryClient(client).jogged(joint)
        code = run(client, jogged, speed, typer.echo)
    raise typer.Exit(code)
