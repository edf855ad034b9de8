"""Commands that show, set and identify the payloads of a running robot."""

from typing import Annotated, Final

import typer

from humanoid_control_cli.robot.command import Timeout

app = typer.Typer(
    help="Show, set or identify what the hands carry, for the compensation of gravity.",
    rich_markup_mode=None,
)
Link = Annotated[str, typer.Argument(metavar="LINK", help="Link of the description that carries.")]
NOTHING: Final = (0.0, 0.0, 0.0)
DOUBTFUL: Final = 0.3  # part of the torques that a payload leaves unexplained
SMALLEST: Final = 0.05  # [Nm] of unexplained torque that is doubtful: of 20 g at 0.25 m


@app.callback(invoke_without_command=True)
def payload(context: typer.Context, timeout: Timeout = 5.0) -> None:
    """Show what the links carry, or set it."""
    if context.invoked_subcommand is not None:
        return
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.payload.gravity_client import GravityClient

    with Client(timeout) as client:
        carried = GravityClient(client).payloads()
    typer.echo("\n".join(str(it) for it in carried) or "no payload")


@app.command("set")
def set_payload(
    link: Link,
    mass: Annotated[float, typer.Argument(metavar="KG", help="Its mass; 0: none.")],
    centre: Annotated[
        tuple[float, float, float],
        typer.Option("--at", metavar="X Y Z", help="Centre of mass in the link's axes [m]."),
    ] = NOTHING,
    timeout: Timeout = 5.0,
) -> None:
    """Set what a link carries, until the robot is restarted. The torque follows within a second."""
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.payload.gravity_client import GravityClient
    from humanoid_motion.dynamics.payload import Payload

    carried = Payload(link, mass, centre)
    with Client(timeout) as client:
        typer.echo(GravityClient(client).carry(carried))


@app.command()
def identify(
    link: Link,
    poses: Annotated[int, typer.Option(min=2, help="How many poses to measure.")] = 2,
    apply: Annotated[bool, typer.Option("--apply", help="Set what was found.")] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Find mass and centre of mass of a hand's payload, from the torques at two poses or more.

    The joints must be stiff and at rest. Between two poses move the arm, then press Enter. The
    centre of mass is searched along the hand. Exit code 1: refused, or the poses are too similar.
    """
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.payload.gravity_client import GravityClient
    from humanoid_motion.dynamics.payload_identification import identify as find

    with Client(timeout) as client:
        gravity = GravityClient(client)
        model, measured = gravity.model(link), []
        for number in range(1, poses + 1):
            if number > 1:
                typer.prompt(
                    "move the arm to another pose, then press Enter", "", show_default=False
                )
            measured.append(gravity.resting_pose())
            typer.echo(f"pose {number} of {poses} is measured")
        found = find(model, link, measured)
        typer.echo(
            f"{found.payload}\nresidual torque: {found.residual:.2f} Nm, without a payload "
            f"{found.without:.2f} Nm"
        )
        if found.residual > max(DOUBTFUL * found.without, SMALLEST):
            typer.echo("doubtful: friction, a contact, or a load beside the hand's axis")
        if apply:
            typer.echo(f"set: {gravity.carry(found.payload)}")
