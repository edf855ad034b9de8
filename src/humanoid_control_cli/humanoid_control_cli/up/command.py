"""`hc up`: its options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from humanoid_control_cli.domain import choose_namespace, robot_namespace
from humanoid_control_cli.interrupts import importing
from humanoid_control_cli.up.viewer_address import Host, Port, TokenFile
from humanoid_control_common.rules.modes import Mode


class Backend(StrEnum):
    """Backends of `hc up`."""

    MUJOCO = "mujoco"
    MOCK = "mock"
    TWIN = "twin"
    REAL = "real"


class InitialMode(StrEnum):
    """Modes a robot may start in."""

    ZERO_TORQUE = "zero_torque"
    DAMPING = "damping"


RobotName = Annotated[
    str, typer.Option("--robot", metavar="NAME", help="Name of an installed robot.")
]


def _file(what: str, *names: str) -> Any:
    return typer.Option(
        *names, exists=True, dir_okay=False, resolve_path=True, metavar="FILE", help=what
    )


def up(  # noqa: PLR0913, PLR0917 - one argument for each option
    backend: Annotated[Backend, typer.Argument(help="Backend that moves the joints.")],
    robot: RobotName = "prime",
    description: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Links and joints, such as a CAD export: a URDF or xacro file, its folder, or "
            "package://NAME/PATH.",
            show_default="the robot's own",
        ),
    ] = None,
    srdf: Annotated[
        Path | None,
        _file("SRDF: the pairs of links that need no check for self-collision (`hc srdf`)."),
    ] = None,
    backends: Annotated[
        str | None,
        typer.Option(
            metavar="BUS",
            help="real, twin: the one bus present (Prime: ec, can); joints of the others are "
            "mocked.",
            show_default="all",
        ),
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            metavar="IF",
            help="real: network interface of the EtherCAT ring.",
            show_default="that of the hardware file",
        ),
    ] = None,
    can_interface: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="real: kind of CAN adapter, as python-can names it: socketcan, slcan …",
            show_default="that of the hardware file",
        ),
    ] = None,
    can_channel: Annotated[
        str | None,
        typer.Option(
            metavar="CHANNEL",
            help="real: channel of the CAN adapter: can2, /dev/ttyACM0 …; of a robot with several "
            "CAN buses BUS=CHANNEL,…",
            show_default="that of the hardware file",
        ),
    ] = None,
    rtf: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="mujoco: simulated seconds per second; 0: as fast as possible.",
            show_default="1",
        ),
    ] = None,
    full_mit: Annotated[
        bool,
        typer.Option(
            "--full-mit",
            help="mujoco, mock: all joints take all five command interfaces in every tick; the "
            "robot's eRobs take position only, and gains per mode.",
        ),
    ] = False,
    viewer: Annotated[bool, typer.Option(help="Show the robot in the browser.")] = True,
    initial_mode: Annotated[
        InitialMode | None,
        typer.Option(
            help="Initial mode.", show_default="initial_controller of the controllers file"
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAMESPACE",
            help="Namespace of this robot, if several share a ROS domain: /left.",
            show_default="that of `hc --namespace`",
        ),
    ] = None,
    black_box: Annotated[
        bool, typer.Option(help="Write a file of the time before each fault (`hc blackbox`).")
    ] = True,
    joint_stream: Annotated[
        bool,
        typer.Option("--joint-stream", help="REMOTE follows a program without ROS, over gRPC."),
    ] = False,
    gamepad: Annotated[bool, typer.Option(help="Accept requests from a gamepad.")] = False,
    heartbeat: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:SECONDS",
            help="Stop when `hc heartbeat NAME` is silent for that long. Repeatable.",
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="real, twin: for `hc calibrate`, without stiff modes."),
    ] = False,
    controllers: Annotated[Path | None, _file("Controllers and their parameters.")] = None,
    hardware: Annotated[
        Path | None,
        _file("Hardware file: the drive of each joint.", "--hardware", "--hardware-config"),
    ] = None,
    calibration: Annotated[
        Path | None, _file("real, twin: directions and homing offsets of the joints.")
    ] = None,
    actuators: Annotated[
        Path | None,
        _file("twin: its actuators and their friction, in the place of the robot's own."),
    ] = None,
    mountings: Annotated[
        Path | None,
        _file("twin: how its actuators sit on their joints, for a calibration to find."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    token_file: TokenFile = None,
) -> None:
    """Bring the robot up and keep it running until Ctrl-C."""
    drives = (Backend.REAL, Backend.TWIN)
    _check_for((Backend.MUJOCO,), backend, "'--rtf'", rtf)
    _check_for(drives, backend, "'--backends'", backends)
    _check_for(drives, backend, "'--calibrate'", calibrate or None)
    _check_for(drives, backend, "'--calibration'", calibration)
    _check_for((Backend.MUJOCO, Backend.MOCK), backend, "'--full-mit'", full_mit or None)
    _check_for((Backend.TWIN,), backend, "'--actuators'", actuators)
    _check_for((Backend.TWIN,), backend, "'--mountings'", mountings)
    _check_for((Backend.REAL,), backend, "'--interface'", interface)
    _check_for((Backend.REAL,), backend, "'--can-interface'", can_interface)
    _check_for((Backend.REAL,), backend, "'--can-channel'", can_channel)
    if namespace is not None:
        choose_namespace(namespace)
    with importing():
        from humanoid_bringup import options as bringup
        from humanoid_bringup.options import read_heartbeats
        from humanoid_bringup.robot_package import find_robot
        from humanoid_control_cli.up.bring_up import bring_up

    options = bringup.Options(
        robot=find_robot(robot, description or ""),
        backend=bringup.Backend[backend.name],
        backends=backends or bringup.ALL,
        ethercat_interface=interface or "",
        can_interface=can_interface or "",
        can_channel=can_channel or "",
        namespace=robot_namespace(),
        joint_stream=joint_stream,
        black_box=black_box,
        enable_gamepad=gamepad,
        heartbeats=read_heartbeats(heartbeat or ()),
        calibrate=calibrate,
        full_mit=full_mit,
        real_time_factor=1.0 if rtf is None else rtf,
        initial_mode=None if initial_mode is None else Mode[initial_mode.name],
        viewer=viewer,
        viewer_host=host,
        viewer_port=port,
        viewer_token_file=token_file,
        srdf=srdf,
        controllers_file=controllers,
        hardware_config=hardware,
        calibration_file=calibration,
        actuators=actuators,
        mountings=mountings,
    )
    raise typer.Exit(bring_up(options))


def _check_for(those: tuple[Backend, ...], backend: Backend, option: str, value: object) -> None:
    """Raise a usage error for an option that would be ignored: it is for `those` backends."""
    if value is not None and backend not in those:
        names = " and ".join(f"`hc up {it}`" for it in those)
        raise typer.BadParameter(f"is for {names}, not {backend}", param_hint=option)
