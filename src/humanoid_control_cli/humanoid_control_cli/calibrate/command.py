"""`hc calibrate`: its options."""

import math
from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.interrupts import importing
from humanoid_control_cli.robot.command import Timeout

Joints = Annotated[
    list[str] | None,
    typer.Option(metavar="JOINT", help="Joint to make limp; repeatable, one after another."),
]


def calibrate(  # noqa: PLR0913, PLR0917 - one argument for each option
    joint: Joints = None,
    duration: Annotated[
        float | None,
        typer.Option(
            min=0.1, metavar="SECONDS", help="Time for each --joint; then the results are written."
        ),
    ] = None,
    flip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT",
            help="Reverse the direction of this joint; alone it needs no sweep and no robot.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            metavar="FILE",
            help="File to be written.",
            show_default="that in use, with a backup of the old one",
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            resolve_path=True,
            metavar="FILE",
            help="--flip alone: the calibration file to change.",
        ),
    ] = None,
    hardware: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            resolve_path=True,
            metavar="FILE",
            help="--flip alone: the hardware file.",
        ),
    ] = None,
    robot: Annotated[
        str, typer.Option(metavar="NAME", help="--flip alone: the robot whose files are used.")
    ] = "prime",
    timeout: Timeout = 5.0,
) -> None:
    """Find directions and homing offsets: move each joint to both stops by hand.

    A limp arm falls: support it. The robot must have been started with `hc up real --calibrate`.
    """
    if flip and not joint and duration is None:
        from humanoid_bringup.robot_package import find_robot
        from humanoid_control_cli.calibrate.run import flip_only

        package = find_robot(robot)
        raise typer.Exit(flip_only(package, tuple(flip), calibration, hardware, output))
    for name, value in (("'--calibration'", calibration), ("'--hardware'", hardware)):
        if value is not None:
            raise typer.BadParameter("is for --flip alone", param_hint=name)
    if duration is not None and not joint:
        raise typer.BadParameter("is for each --joint; give them", param_hint="'--duration'")
    from humanoid_control_cli.calibrate.screen import can_draw

    if duration is None and not can_draw():
        raise typer.BadParameter(
            "is needed without a terminal that has keys and shows a table (TERM=dumb does not)",
            param_hint="'--duration'",
        )
    with importing():
        from humanoid_control_cli.calibrate.run import Options
        from humanoid_control_cli.calibrate.run import calibrate as run

    options = Options(
        joints=tuple(joint or ()),
        duration=math.inf if duration is None else duration,
        flips=tuple(flip or ()),
        output=output,
        timeout=timeout,
    )
    raise typer.Exit(run(options))
