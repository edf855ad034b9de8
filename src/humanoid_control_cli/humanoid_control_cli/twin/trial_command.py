"""`hc twin trial`: its options."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.up.command import RobotName
from humanoid_control_cli.up.viewer_address import Host, Port, TokenFile


class StopAt(StrEnum):
    """The event at which the replay stops."""

    FAULT = "fault"
    FALL = "fall"
    VIOLATION = "violation"


def trial(  # noqa: PLR0913, PLR0917 - one argument for each option
    seed: Annotated[int, typer.Argument(metavar="SEED", help="Seed of the trial.")],
    kind: Annotated[
        str,
        typer.Option(metavar="KIND", help="Kind of the fault: make faults ARGS=--list"),
    ],
    robot: RobotName = "prime",
    speed: Annotated[float, typer.Option(min=0.001, help="Simulated seconds per second.")] = 1.0,
    stop_at: Annotated[
        StopAt | None, typer.Option(help="Stop and stand still there.", show_default="the end")
    ] = None,
    loop: Annotated[bool, typer.Option("--loop", help="Begin again there, or at the end.")] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where its files are written.",
            show_default="a new folder for temporary files",
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    token_file: TokenFile = None,
) -> None:
    """Run a trial of the fault campaign again on the stepped robot, and show it in the browser.

    The campaign prints seed and kind of each violation. Needs a checkout of the workspace, no
    robot and no rights.
    """
    from humanoid_bringup.viewers.viewer_processes import ViewerAddress
    from humanoid_control_cli.bag.in_viewer import show_replay
    from humanoid_control_cli.bag.replay import Options
    from humanoid_control_cli.twin.trial import Trial, own_workspace, run_trial, trial_folder
    from humanoid_recording.trial_files import TrialEventType, TrialFiles, read_time_line

    workspace = own_workspace()
    with trial_folder(trace) as folder:
        files = TrialFiles(folder)
        run_trial(Trial(seed, kind, robot), files, workspace)
    events = read_time_line(files.topics)
    for event in events:
        typer.echo(event)
    typer.echo(f"files: {files.topics} {files.ring} {files.can}")
    until = math.inf
    if stop_at is not None:
        event_type = TrialEventType(stop_at.value)
        until = next((event.time for event in events if event.event_type is event_type), math.inf)
        if until == math.inf:
            typer.echo(f"it has no {stop_at}: shown to its end")
    options = Options(files.topics, speed, loop, stay=True, until=until)
    raise typer.Exit(show_replay(options, ViewerAddress(host, port, token_file)))
