"""`hc policy`: inspect a learned policy, and load one into the running robot."""

from pathlib import Path
from shutil import rmtree
from typing import Annotated

import typer

from humanoid_control_cli.robot.command import Timeout

app = typer.Typer(
    help="Inspect a learned policy, and load one as LOCOMOTION into the running robot.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
PolicyFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, help="The ONNX file of the policy.")
]


@app.command()
def inspect(file: PolicyFile) -> None:
    """Check a policy; print its metadata and the time of its inference. Exit code 1: refused."""
    from humanoid_control_cli.policy.view import lines_of
    from humanoid_policy.observation.observation import Observation
    from humanoid_policy.trial import try_policy

    _, _, metadata, times = try_policy(str(file.resolve()))
    for line in lines_of(metadata, Observation(metadata)):
        typer.echo(line)
    typer.echo(
        f"observation and inference: median {times.median * 1e6:.0f} µs, 99 % within "
        f"{times.most * 1e6:.0f} µs, allowed {metadata.policy_period * 1e6:.0f} µs"
    )


@app.command()
def load(
    file: PolicyFile,
    motion: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            metavar="FILE",
            help="Motion that it follows, if it follows one: waypoints, or one of `hc teach`.",
        ),
    ] = None,
    timeout: Timeout = 10.0,
) -> None:
    """Load a policy into the running robot as its LOCOMOTION, in place of the one before.

    LOCOMOTION must not be in force. Exit code 1: refused, and nothing is changed.
    """
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.controllers.requests import load_file
    from humanoid_control_cli.errors import RefusedError
    from humanoid_control_cli.policy.parameters import named_by_its_files, write_parameters

    parameters = write_parameters(file.resolve(), motion)
    with Client(timeout) as client:
        try:
            loaded = load_file(client, parameters)
        except RefusedError as error:
            rmtree(parameters.parent)
            raise named_by_its_files(error, parameters, motion) from error
    typer.echo(loaded.message)
    typer.echo(f"next: {loaded.way_in}")
