"""`hc sdo`: CoE objects of the drives of a running robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from humanoid_control_cli.robot.command import Timeout
from humanoid_control_cli.sdo.values import (
    Address,
    ValueType,
    check_size,
    encode_value,
    format_value,
    parse_address,
    parse_positions,
    type_of_size,
)

if TYPE_CHECKING:
    from humanoid_control_cli.sdo.client import Outcome, SdoClient

app = typer.Typer(
    help="Read or write CoE objects of the eRob drives, while the robot runs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Position = Annotated[
    str, typer.Argument(metavar="POS", help="Ring position, from 0; several as in 0-9 or 0,5.")
]
Object = Annotated[
    str,
    typer.Argument(
        metavar="INDEX[:SUB]", help="Object, hexadecimal with 0x or decimal, as in 0x2381:1."
    ),
]
Type = Annotated[
    ValueType | None,
    typer.Option("--type", help="Type of the value, if the documents do not state it."),
]


@app.command()
def read(
    pos: Position,
    index: Object,
    kind: Type = None,
    timeout: Timeout = 5.0,
    interface: Annotated[
        str | None,
        typer.Option(
            help="Without a robot: the ring's network interface, which this command opens. "
            "The slaves go to PREOP and back to INIT; nothing is enabled."
        ),
    ] = None,
) -> None:
    """Read an object. Exit code 1: a slave did not answer."""
    positions, address = parse_positions(pos), parse_address(index)
    outcomes = (
        _by_the_robot(positions, address, timeout)
        if interface is None
        else _on_the_bench(interface, positions, address)
    )
    for outcome in outcomes:
        if not outcome.failure:
            check_size(outcome.data, kind)
    _report(outcomes, kind or address.known_type)


def _by_the_robot(positions: Sequence[int], address: Address, timeout: float) -> Sequence[Outcome]:
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.sdo.client import SdoClient

    with Client(timeout) as client:
        return SdoClient(client).read(positions, address)


def _on_the_bench(interface: str, positions: Sequence[int], address: Address) -> Sequence[Outcome]:
    from humanoid_control_cli.sdo.bench import read_objects

    return read_objects(interface, positions, address)


@app.command(context_settings={"ignore_unknown_options": True})  # a negative value is no option
def write(
    pos: Position,
    index: Object,
    value: Annotated[str, typer.Argument(help="Number, hexadecimal with 0x or decimal; or text.")],
    kind: Type = None,
    timeout: Timeout = 5.0,
) -> None:
    """Write an object and read it back. Exit code 1: a slave refused it.

    The gains 0x2381 to 0x2383 belong to the impedance manager, which restores those of the mode in
    force.
    """
    positions, address = parse_positions(pos), parse_address(index)
    kind = kind or address.known_type
    data = encode_value(value, kind) if kind else b""
    from humanoid_control_cli.client import Client
    from humanoid_control_cli.sdo.client import SdoClient

    with Client(timeout) as client:
        sdo = SdoClient(client)
        if kind is None:
            kind = _type_by_reading(sdo, positions, address, value)
            data = encode_value(value, kind)
        outcomes = sdo.write(positions, address, data)
    _report(outcomes, kind)


def _type_by_reading(
    sdo: SdoClient, positions: Sequence[int], address: Address, value: str
) -> ValueType:
    """Return the type that fits the object as the first slave has it."""
    (outcome,) = sdo.read(positions[:1], address)
    if outcome.failure:
        from humanoid_control_cli.errors import RefusedError

        raise RefusedError(
            f"slave {outcome.position} {address}, read for its type, {outcome.failure}; "
            "give the --type to write it without reading"
        )
    return type_of_size(len(outcome.data), value)


def _report(outcomes: Sequence[Outcome], kind: ValueType | None) -> None:
    from humanoid_control_cli.doctor.decode import meaning

    failed = [outcome for outcome in outcomes if outcome.failure]
    for outcome in outcomes:
        place = f"slave {outcome.position} {outcome.address}"
        if outcome.failure:
            typer.echo(f"hc: {place} {outcome.failure}", err=True)
            continue
        text = f"{place} = {format_value(outcome.data, kind)}"
        words = meaning(outcome.address, outcome.data)
        typer.echo(f"{text}: {words}" if words else text)
    if failed:
        raise typer.Exit(1)
