"""`hc twin`: the virtual robot's parts, each by itself, and faults in the whole one."""

from pathlib import Path
from typing import Annotated

import typer

from humanoid_control_cli.twin.trial_command import trial


def _motor_family(name: str) -> str:
    """Return the name of a motor family of the virtual robot. Raises BadParameter for others."""
    from humanoid_twin.can.motors.families import MOTOR_FAMILIES

    if name not in MOTOR_FAMILIES:
        raise typer.BadParameter(f"'{name}', expected {' or '.join(MOTOR_FAMILIES)}")
    return name


app = typer.Typer(
    help="Inject and remove faults of the virtual robot; run its EtherCAT drives or CAN motors; "
    "show a trial of the fault campaign.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command()(trial)


@app.command()
def ring(
    ifname: Annotated[
        str, typer.Argument(metavar="IFNAME", help="Interface the drives answer on.")
    ],
    slaves: Annotated[int, typer.Option(min=1, max=1000, help="Number of drives.")] = 10,
    mailbox_delay_ms: Annotated[
        float, typer.Option(min=0.0, help="Time a drive takes to answer a mailbox request.")
    ] = 0.0,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", dir_okay=False, help="Write all frames into a pcap file (Wireshark)."
        ),
    ] = None,
    control: Annotated[
        Path | None, typer.Option(metavar="SOCKET", help="Unix socket for injecting faults.")
    ] = None,
) -> None:
    """Run eRob drives at one end of a cable until Ctrl-C; point any EtherCAT master at the other.

    The cable is a virtual one (`hc twin veth`) or leads to another machine. Needs CAP_NET_RAW.
    """
    from humanoid_bringup.preflight.ready import require_far_end
    from humanoid_control_cli.doctor.system import fifo_is_permitted
    from humanoid_twin.ethercat.main import main

    require_far_end(ifname)
    words = [ifname, "--slaves", str(slaves), "--mailbox-delay-ms", f"{mailbox_delay_ms:g}"]
    if fifo_is_permitted():  # drives are on time, whatever else this machine has to do
        words.append("--realtime")
    if capture:
        words += ["--capture", str(capture)]
    if control:
        words += ["--control", str(control)]
    raise typer.Exit(main(words))


@app.command()
def can(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="Serial port (slcan) to create, or a SocketCAN interface."
        ),
    ],
    family: Annotated[
        str,
        typer.Option(
            parser=_motor_family, metavar="FAMILY", help="Family of all motors, e.g. robstride."
        ),
    ] = "sito",
    ids: Annotated[
        str, typer.Option(metavar="ID,ID...", help="CAN ids, decimal or with 0x.")
    ] = "22,23,38,39",
    model: Annotated[
        str | None, typer.Option(help="Of all motors.", show_default="that of the family")
    ] = None,
    without_flags: Annotated[
        bool,
        typer.Option("--without-flags", help="The adapter reports no status flags: BEL for F."),
    ] = False,
    control: Annotated[
        Path | None, typer.Option(metavar="SOCKET", help="Unix socket for injecting faults.")
    ] = None,
) -> None:
    """Run CAN motors behind a serial port at PATH until Ctrl-C; point any slcan client at it.

    Needs no rights: the port is a pseudo terminal.
    """
    from humanoid_control_cli.doctor.system import fifo_is_permitted
    from humanoid_twin.can.main import main

    words = [str(path), "--family", family, "--ids", ids]
    if fifo_is_permitted():
        words.append("--realtime")
    if without_flags:
        words.append("--without-flags")
    if model:
        words += ["--model", model]
    if control:
        words += ["--control", str(control)]
    raise typer.Exit(main(words))


Joint = Annotated[str, typer.Argument(metavar="JOINT", help="Joint, as `hc status` names it.")]


@app.command("break")
def break_(
    joint: Joint,
    error: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Error code of an eRob, as in 0x603F.",
            show_default="0x8500 (position)",
        ),
    ] = None,
) -> None:
    """Put a drive of the running `hc up twin` at fault. Exit code 1: not possible."""
    from humanoid_control_cli.twin.faults import break_joint

    typer.echo(break_joint(joint, error))


@app.command()
def mend(joint: Joint) -> None:
    """Remove the cause of a fault, such as a weak battery; then call `hc clear-fault`."""
    from humanoid_control_cli.twin.faults import mend_joint

    typer.echo(mend_joint(joint))


@app.command()
def veth(
    a: Annotated[str, typer.Argument(metavar="A", help="The end for the master.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The end for the ring.")],
    delete: Annotated[bool, typer.Option("--delete", help="Remove the pair instead.")] = False,
) -> None:
    """Make a virtual cable: a pair of network interfaces, both up. Needs CAP_NET_ADMIN."""
    from humanoid_control_common.machine.rights import VETH, require_capabilities
    from humanoid_twin.ethercat.veth import create_veth, remove_pair

    require_capabilities(f"a virtual cable {a} - {b}", VETH)
    if delete:
        remove_pair(a, b)
        typer.echo(f"removed {a} and {b}")
        return
    create_veth(a, b)
    typer.echo(f"{a} and {b} are up; next: hc twin ring {b}")
