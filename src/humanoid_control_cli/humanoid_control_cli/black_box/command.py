"""Commands for the files of the black box."""

from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.robot.command import Timeout

app = typer.Typer(help="Files with the last minute before a fault.", no_args_is_help=True)
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="FOLDER",
        help="Where the files are.",
        show_default="$ROS_HOME/black_box, ~/.ros/black_box",
    ),
]
All = Annotated[
    bool, typer.Option("--all", help="Files of robots on every ROS domain, not only on this one.")
]


@app.command("list")
def list_files(folder: Folder = None, every: All = False) -> None:
    """List the files of this ROS domain, latest first. Exit code 1: none."""
    from humanoid_control_cli.black_box.files import list_rows
    from humanoid_control_cli.black_box.view import listed
    from humanoid_control_cli.command_line.plain_console import PlainConsole

    PlainConsole().print(listed(list_rows(folder, every=every)))


@app.command()
def show(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Name or path of the file.",
            show_default="the latest of this ROS domain",
        ),
    ] = None,
    folder: Folder = None,
    every: All = False,
) -> None:
    """Show the events that led to a fault, and the remedies."""
    from humanoid_control_cli.black_box.files import found
    from humanoid_control_cli.black_box.view import fault_view
    from humanoid_control_cli.command_line.plain_console import PlainConsole
    from humanoid_recording.black_box.fault_report import read_fault_report
    from humanoid_recording.black_box.origin import read_origin

    path = found(file, folder, every=every)
    PlainConsole().print(fault_view(path, read_origin(path), read_fault_report(path)))


@app.command()
def save(timeout: Timeout = 5.0) -> None:
    """Write a file of the last minute now. Exit code 1: no file was written."""
    from humanoid_control_cli.black_box.files import ask_to_save

    typer.echo(ask_to_save(timeout))
