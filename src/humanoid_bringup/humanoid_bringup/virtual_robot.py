"""The virtual robot of a bring-up: its processes and its bus addresses."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from humanoid_bringup.executables import write_file, write_parameters
from humanoid_bringup.options import Backend, Options, Process
from humanoid_control_common.robot.domain_lock import FOLDER
from humanoid_control_common.robot.robot_namespace import ROOT, file_mark
from humanoid_control_common.robot.ros_domain import own_domain

PACKAGE: Final = "humanoid_twin"
READY: Final = "robot: "  # start of the line it prints once it answers on its buses


def as_real(options: Options, folder: Path) -> Options:
    """Return the options of the real bring-up for the virtual robot: other names of the buses."""
    serial_lines = _serial_lines(options, folder)
    return replace(
        options,
        backend=Backend.REAL,
        ethercat_interface=_cable()[0] if options.robot.ring else "",
        can_interface="slcan",
        can_channel=",".join(serial_lines),
    )


def control_socket(namespace: str = ROOT) -> Path:
    """Return the control channel of the virtual robot of this ROS domain and namespace."""
    mark = f"domain_{own_domain()}_twin{file_mark(namespace)}"
    return FOLDER / f"humanoid_control_{os.getuid()}_{mark}"


def remove_remains(namespace: str) -> None:
    """Remove what a virtual robot that was killed leaves: its cable and its control channel."""
    from humanoid_twin.ethercat.veth import remove_leftovers

    remove_leftovers()
    control_socket(namespace).unlink(missing_ok=True)


def with_virtual_robot(
    stack: list[Process], options: Options, folder: Path, urdf: str
) -> list[Process]:
    """Return the stack, the virtual robot of `urdf`, and the node that publishes the truth.

    The processes that outlive others need no robot: they load while it does. The truth node starts
    last, so that the stack is up sooner.
    """
    description = folder / "virtual_robot.urdf"
    write_file(description, urdf)
    master, drives = _cable()
    control = control_socket(options.namespace)
    ring = ("--cable", master, "--ring", drives) if options.robot.ring else ()
    robot = [
        *("--urdf", description),
        *("--actuators", options.actuators or options.robot.drives.virtual_robot),
        *ring,
        *(word for line in _serial_lines(options, folder) for word in ("--can", line)),
        *("--control", control),
        *(("--mountings", options.mountings) if options.mountings else ()),
        "--realtime",  # drives are on time, whatever else this machine has to do
        "--ignore-interrupt",  # Ctrl-C reaches all at once, and drives are the last to be needed
    ]
    own = {"control": str(control)}
    truth = write_parameters(folder, "truth", own, options.namespace)
    arguments = tuple(map(str, robot))
    first_user = next(i for i, process in enumerate(stack) if not process.outlives)
    return [
        *stack[:first_user],
        Process("robot", PACKAGE, "robot", arguments=arguments, ready=READY, outlives=True),
        *stack[first_user:],
        Process(
            "truth",
            PACKAGE,
            "truth",
            (truth,),
            required=False,
            namespace=options.namespace,
            background=True,
        ),
    ]


def _serial_lines(options: Options, folder: Path) -> list[str]:
    """Return BUS=PATH for each CAN bus: the serial line that the virtual robot makes for it."""
    return [f"{bus}={folder / bus}" for bus in options.robot.can_buses]


def _cable() -> tuple[str, str]:
    """Return the ends of the virtual cable, master's and drives'; no two bring-ups share one."""
    number = os.getpid()
    return f"hcm{number}", f"hcs{number}"
