"""`hc friction`: its commands and options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from humanoid_control_cli.interrupts import importing
from humanoid_control_cli.robot.command import Timeout
from humanoid_control_cli.terminal_keys import has_keys

app = typer.Typer(help="Record, plot and check the friction maps of joints.", no_args_is_help=True)

Method = Annotated[
    Literal["breakaway", "sweep"],
    typer.Option(help="Ramp the effort until the joint moves; or move it slowly and steadily."),
]
MaxEffort = Annotated[
    float | None,
    typer.Option(
        min=0.001, metavar="NM", help="Beside gravity.", show_default="half the joint's limit"
    ),
]
Passes = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=20,
        help="How often each direction covers the range.",
        show_default="breakaway 3, sweep 1",
    ),
]
Speed = Annotated[
    float, typer.Option(min=0.001, max=0.02, metavar="RAD_S", help="Of a sweep [rad/s].")
]
Threshold = Annotated[
    float,
    typer.Option(
        min=0.001,
        max=0.1,
        metavar="RAD",
        help="A joint that moved this far has broken away.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before the joint moves.")]


@app.command()
def record(  # noqa: PLR0913, PLR0917 - one argument for each option
    joint: Annotated[
        list[str], typer.Option(metavar="JOINT", help="Repeatable: one after another.")
    ],
    into: Annotated[Path, typer.Option(dir_okay=False, metavar="FILE", help="File to write.")],
    method: Method = "breakaway",
    lower: Annotated[
        float | None,
        typer.Option(
            "--min",
            metavar="RAD",
            help="Beginning of the recorded range.",
            show_default="0.1 rad before the end of the joint's range",
        ),
    ] = None,
    upper: Annotated[
        float | None,
        typer.Option(
            "--max",
            metavar="RAD",
            help="End of the recorded range.",
            show_default="0.1 rad before the end of the joint's range",
        ),
    ] = None,
    points: Annotated[
        int, typer.Option(min=2, max=200, help="Of each direction: bins of equal width.")
    ] = 10,
    max_effort: MaxEffort = None,
    passes: Passes = None,
    speed: Speed = 0.02,
    threshold: Threshold = 0.02,
    yes: Yes = False,
    timeout: Timeout = 10.0,
) -> None:
    """Record the friction of joints over their range. The robot must be in a finished STANDBY.

    Loads its own controller into REMOTE and moves one joint; the others hold. Ends in DAMPING: the
    arms sink. Ctrl-C ends the effort at once. The maps of joints before a failed one are written.
    Exit code 1: refused or failed; 130: Ctrl-C.
    """
    _needs_an_answer(yes)
    with importing():
        from humanoid_control_cli.friction.record import record as run
        from humanoid_control_cli.friction.session import Settings

    settings = Settings(method, max_effort, passes, speed, threshold)
    raise typer.Exit(run(tuple(joint), into, (lower, upper), points, settings, yes, timeout))


@app.command()
def check(  # noqa: PLR0913, PLR0917 - one argument for each option
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE", help="Friction maps.")
    ],
    joint: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT", help="Repeatable.", show_default="all of the file"),
    ] = None,
    method: Annotated[
        Literal["breakaway", "sweep"] | None,
        typer.Option(help="How to measure.", show_default="that of the file"),
    ] = None,
    bound: Annotated[
        float,
        typer.Option(
            min=0.0, help="Largest residual of a bin, as a part of the direction's mean friction."
        ),
    ] = 0.15,
    max_effort: MaxEffort = None,
    passes: Passes = None,
    speed: Speed = 0.02,
    threshold: Threshold = 0.02,
    yes: Yes = False,
    timeout: Timeout = 10.0,
) -> None:
    """Measure the friction again and compare it with a map: the residual per direction.

    As `record`, but it writes nothing. Exit code 1: refused, failed, or not within the bound; 130:
    Ctrl-C.
    """
    _needs_an_answer(yes)
    with importing():
        from humanoid_control_cli.friction.record import check as run
        from humanoid_control_cli.friction.session import Settings

    def settings(of_file: str) -> Settings:
        chosen = method or ("sweep" if of_file == "sweep" else "breakaway")
        return Settings(chosen, max_effort, passes, speed, threshold)

    raise typer.Exit(run(file, tuple(joint or ()), bound, settings, yes, timeout))


@app.command()
def plot(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE", help="Friction maps.")
    ],
    into: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, metavar="PICTURE", help="SVG or PNG.", show_default="FILE with .svg"
        ),
    ] = None,
) -> None:
    """Draw both maps of each joint, their samples, and the residuals."""
    from humanoid_control_cli.friction.plot import plot as run

    target = into or file.with_suffix(".svg")
    run(file, target)
    typer.echo(f"written to {target}")


def _needs_an_answer(yes: bool) -> None:
    if not (yes or has_keys()):
        raise typer.BadParameter("no terminal could confirm that the joint moves: give --yes")
