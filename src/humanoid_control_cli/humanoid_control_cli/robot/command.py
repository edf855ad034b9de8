"""Commands for a robot that is up: mode, faults, state."""

from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Final

import typer

from humanoid_control_cli.command_line.printed_output import OutputError
from humanoid_control_cli.domain import robot_namespace
from humanoid_control_cli.interrupts import importing
from humanoid_control_common.rules.modes import INTENT_OF_MODE, Intent, Mode


class Request(StrEnum):
    """Requests of `hc mode`."""

    DAMP = "damp"
    LOAD = "load"
    STANDBY = "standby"
    REMOTE = "remote"
    START_REMOTE = "start_remote"
    TEACH = "teach"
    LOCOMOTION = "locomotion"
    START_LOCOMOTION = "start_locomotion"
    ZERO_TORQUE = "zero_torque"
    QUIT = "quit"


MODE_OF: Final = {
    Request.DAMP: Mode.DAMPING,
    Request.LOAD: Mode.STANDBY,
    Request.STANDBY: Mode.STANDBY,
    Request.REMOTE: Mode.REMOTE,
    Request.START_REMOTE: Mode.REMOTE,
    Request.LOCOMOTION: Mode.LOCOMOTION,
    Request.START_LOCOMOTION: Mode.LOCOMOTION,
    Request.ZERO_TORQUE: Mode.ZERO_TORQUE,
}

Timeout = Annotated[
    float, typer.Option(min=0.1, help="Seconds to wait for the control process to answer.")
]


def mode(
    request: Annotated[
        Request | None,
        typer.Argument(help="Mode to request; without it, show the mode in force."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until STANDBY is finished; quit: for the end.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="zero_torque: even while joints move; a raised arm falls."),
    ] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Show the mode in force, or request another one. Exit code 1: refused, or no answer."""
    if wait and request not in (Request.LOAD, Request.STANDBY, Request.QUIT):
        raise typer.BadParameter(
            "is for `hc mode standby`, `hc mode load` and `hc mode quit`", param_hint="'--wait'"
        )
    if force and request is not Request.ZERO_TORQUE:
        raise typer.BadParameter("is for `hc mode zero_torque`", param_hint="'--force'")
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.mode_client import ModeClient

    with Client(timeout) as client:
        modes = ModeClient(client)
        if request is None:
            typer.echo(modes.statement())
        elif request is Request.QUIT:
            _print_result(modes.quit(wait=wait))
        elif request is Request.TEACH:
            from humanoid_control_cli.teach.start import start_teaching

            _print_result(start_teaching(client, modes))
        else:
            before = modes.statement()
            intent = Intent.FORCE_ZERO_TORQUE if force else INTENT_OF_MODE[MODE_OF[request]]
            now = modes.request(intent)
            # An earlier refusal stays in the statement, and is no answer to this request.
            already = now.switch_number == before.switch_number
            _print_result(f"already in {now.in_force}" if already else now)
            if wait:
                modes.wait_for_ready_pose(now)
                _print_result("STANDBY is finished")


def stop(timeout: Timeout = 5.0) -> None:
    """Stop: DAMPING from any mode, until `hc clear-fault`. Exit code 1: not confirmed.

    A stop in software; it is no substitute for one that cuts the power.
    """
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.robot.operator_requests import press

    with Client(timeout) as client:
        _print_result(f"stopped: {press(client)}")


def down(timeout: Timeout = 5.0) -> None:
    """Power down in order: DAMPING until the joints are slow, ZERO_TORQUE, drives disabled.

    Ends the control process. Exit code 1: joints may still be powered, or no answer.
    """
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.robot.operator_requests import power_down

    with Client(timeout) as client:
        _print_result(power_down(client))


def heartbeat(
    name: Annotated[str, typer.Argument(help="Name of the heartbeat, as in `hc up --heartbeat`.")],
    timeout: Timeout = 5.0,
) -> None:
    """Send a heartbeat until Ctrl-C. When it ends, a robot that requires it stops.

    Exit code 1: the robot requires no heartbeat of this name.
    """
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.errors import NoAnswerError, RefusedError
        from humanoid_control_cli.robot.operator_requests import (
            BEAT_PERIOD,
            keep_beating,
            required_heartbeats,
        )

    with Client(timeout) as client, suppress(KeyboardInterrupt):
        try:
            required = required_heartbeats(client)
        except NoAnswerError as error:
            typer.echo(f"hc: {error}; the heartbeat is sent all the same", err=True)
        else:
            if name not in required:
                raise RefusedError(
                    f"the robot requires no heartbeat of '{name}', so it would not stop when this "
                    f"one ends; it requires: {', '.join(required) or 'none'}"
                )
        typer.echo(
            f"heartbeat of {name}, every {BEAT_PERIOD:g} s: a robot that requires it stops when it "
            "ends"
        )
        keep_beating(client, name)


def clear_fault(timeout: Timeout = 5.0) -> None:
    """Reset drive faults and accept requests again after a fall to DAMPING.

    Drives take a moment to recover: waits until they have, or for the timeout.
    """
    with importing():
        from humanoid_control_cli.client import Client
        from humanoid_control_cli.robot.operator_requests import clear_faults

    with Client(timeout) as client:
        _print_result(clear_faults(client))


def status(
    everything: Annotated[
        bool, typer.Option("--all", help="Show all values of all diagnoses.")
    ] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Show mode, safety, timing and joints, the present problems and their remedies.

    Exit code 1: a part of it has not arrived.
    """
    from rich.live import Live

    from humanoid_control_cli.command_line.plain_console import PlainConsole
    from humanoid_control_cli.robot.mode_rows import recorded_mode

    console = PlainConsole()
    with Live(recorded_mode(robot_namespace()), console=console, transient=True) as live:
        from humanoid_control_cli.client import Client  # after the first rows: ROS loads slowly

        with Client(timeout) as client:  # it looks for the robot while the rest is loaded
            from humanoid_control_cli.robot.status import collect
            from humanoid_control_cli.robot.status_view import render, statement_rows

            found = collect(client, lambda it: live.update(statement_rows(it), refresh=True))
    console.print(render(found, everything=everything))
    if not found.complete:
        raise typer.Exit(1)


def _print_result(result: object) -> None:
    """Print what the robot did: where the output takes nothing, on standard error.

    The exit code tells what the robot did, and not whether that was printed.
    """
    try:
        typer.echo(result)
    except (OutputError, BrokenPipeError):
        typer.echo(f"{result} (the output cannot be written)", err=True)
