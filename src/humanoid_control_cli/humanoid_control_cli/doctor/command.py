"""Commands about this machine and about numbers, which need no robot."""

from typing import Annotated

import typer

from humanoid_control_cli.doctor.number_kind import Kind


def decode(
    word: Annotated[
        str,
        typer.Argument(
            metavar="WORD",
            help="Number, decimal or with 0x (4616, 0xA000), or a reason code (RX_TIMEOUT).",
        ),
    ],
    kind: Annotated[
        Kind | None, typer.Option("--as", help="Kind of number; detected by default.")
    ] = None,
) -> None:
    """Explain a statusword (0x6041), an error code (0x603F), an entry of the history (0x1003).

    Or an SDO abort code, an AL status code, or a reason code of the robot.
    """
    from humanoid_control_cli.doctor.decode import decode as readings_of

    for i, reading in enumerate(readings_of(word, kind)):
        if i:
            typer.echo()
        typer.echo(reading)


def doctor(
    interface: Annotated[
        str | None,
        typer.Option(help="Network interface of the EtherCAT ring, to be checked too."),
    ] = None,
    can: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:CHANNEL",
            help="CAN adapter, to be checked too: socketcan:can2, slcan:/dev/ttyACM0 …",
        ),
    ] = None,
) -> None:
    """Check this machine, and the robot if one is up; print a remedy for each problem.

    Exit code 1: a requirement is missing or broken.
    """
    from humanoid_bringup.preflight.findings import Level
    from humanoid_control_cli.command_line.plain_console import PlainConsole
    from humanoid_control_cli.doctor.checks import check
    from humanoid_control_cli.doctor.view import show
    from humanoid_control_cli.doctor.workspace import ROS

    findings = check(interface, _adapter(can) if can else None)
    if not any(it.subject == ROS and it.level is Level.MISSING for it in findings):
        from humanoid_control_cli.doctor.robot import robot

        findings += robot()
    show(findings, PlainConsole())
    if any(finding.level in {Level.MISSING, Level.BROKEN} for finding in findings):
        raise typer.Exit(1)


def _adapter(text: str) -> tuple[str, str]:
    kind, separator, channel = text.partition(":")
    if not (kind and separator and channel):
        raise typer.BadParameter(
            f"'{text}' is no KIND:CHANNEL, as socketcan:can2", param_hint="'--can'"
        )
    return kind, channel


def version() -> None:
    """Show the versions that a bug report should name."""
    from humanoid_control_cli.doctor.workspace import versions

    for name, value in versions().items():
        typer.echo(f"{name:<18}{value}")
