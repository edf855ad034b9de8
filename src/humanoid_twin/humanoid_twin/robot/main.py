"""The virtual robot: `python -m humanoid_twin.robot.main --urdf FILE --actuators FILE`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from humanoid_control_common.errors import ConfigError
from humanoid_twin.assumptions import Assumptions, assume
from humanoid_twin.can.attach import add_can
from humanoid_twin.can.motors.build import Board, CanJoint, VirtualCan, build_can
from humanoid_twin.can.motors.motor import CanMotor
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.control.commands import CommandTable, JointCommands
from humanoid_twin.erob.erob_drive import DriveShaft, ErobDrive
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.ethercat.attach import add_ring, add_ring_options
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.ethercat.veth import veth_pair
from humanoid_twin.mounting import EncoderCommands, Mounting, load_mountings
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.physics.plant import Plant
from humanoid_twin.physics.recorder import Recorder, RecorderCommands
from humanoid_twin.robot.actuators import (
    ActuatorCommands,
    Actuators,
    CanActuator,
    RingActuator,
    load_actuators,
)
from humanoid_twin.scheduler import Scheduler
from humanoid_twin.twin_process import TwinProcess, add_process_options, exit_code

Mountings = Mapping[str, Mounting]
_DEFAULT_MOUNTING = Mounting()


def read_urdf(path: Path) -> str:
    """Return the text of a URDF file. Raises ConfigError if it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"URDF of the virtual robot '{path}': {error}") from error


def build_drives(
    plant: Plant,
    rows: Sequence[RingActuator],
    mountings: Mountings,
    all_drives: DriveParameters | None = None,
) -> tuple[ErobDrive, ...]:
    """Return the eRobs of a ring, powered up. They come first in the plant."""
    all_drives = all_drives or DriveParameters()
    return tuple(
        ErobDrive(
            row.parameters(all_drives),
            DriveShaft(plant, index, mountings.get(row.joint, _DEFAULT_MOUNTING)),
        )
        for index, row in enumerate(rows)
    )


def build_ring(
    plant: Plant,
    rows: Sequence[RingActuator],
    mountings: Mountings,
    simulated_time: SimulatedTime,
    assumptions: Assumptions,
) -> tuple[VirtualRing, tuple[ErobDrive, ...]]:
    """Return the ring, each slave with its own serial number, and its drives, powered up."""
    drives = build_drives(plant, rows, mountings, assumptions.drive)
    ring = VirtualRing(drives, simulated_time, assumptions.slave)
    for slave, row in zip(ring.slaves, rows, strict=True):
        slave.identify(replace(slave.identification.identity, serial=row.serial_number))
    return ring, drives


def build_motors(
    plant: Plant,
    joints: Sequence[str],
    rows: Sequence[CanActuator],
    mountings: Mountings,
    simulated_time: SimulatedTime,
) -> VirtualCan:
    """Return a CAN bus with its motors, powered up. `joints`: in the plant's order.

    Raises CanError for an unknown family or model, or an id out of range.
    """
    motors = {
        row.id: CanJoint(
            index=joints.index(row.joint),
            family=row.family,
            model=row.model,
            mounting=mountings.get(row.joint, _DEFAULT_MOUNTING),
            board=_board(row, rows, joints),
            motorless=row.tendon_of is not None,
        )
        for row in rows
    }
    return build_can(plant, motors, simulated_time)


def _board(row: CanActuator, rows: Sequence[CanActuator], joints: Sequence[str]) -> Board | None:
    if row.board is None:
        return None
    others = tuple(joints.index(it.joint) for it in rows if it.tendon_of == row.joint)
    return Board(figures=row.board, others=others)


Drives = dict[str, ErobDrive | CanMotor]  # by joint


def add_joints(
    scheduler: Scheduler,
    commands: CommandTable,
    plant: MujocoPlant,
    actuators: Actuators,
    drives: Drives,
    urdf: str,
) -> Recorder:
    """Record the joints at every step, and add the commands for them. Return the recorder.

    `drives`: of the buses that are there; the other joints have none.
    """
    joints = actuators.joints
    recorder = Recorder(plant, joints, [drives.get(joint, _Undriven()) for joint in joints])
    scheduler.on_step = recorder.stepped
    for added in (
        JointCommands(plant, joints),
        RecorderCommands(recorder),
        Loads(plant.model, plant.data, urdf),
        ActuatorCommands(actuators),
        EncoderCommands({joint: it.shaft for joint, it in drives.items()}),
    ):
        commands.add(added)
    return recorder


class _Undriven:
    """The drive of a joint without a bus."""

    def spring(self) -> tuple[float, float]:
        """See Spring."""
        return 0.0, 0.0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    line = argparse.ArgumentParser(prog="robot", description="A robot, virtually, on its buses.")
    line.add_argument("--urdf", type=Path, required=True, metavar="FILE",
                      help="geometry and masses")  # fmt: skip
    line.add_argument("--actuators", type=Path, required=True, metavar="FILE",
                      help="YAML: the actuators by bus")  # fmt: skip
    line.add_argument("--ring", metavar="IFNAME", help="Ethernet interface the eRobs answer on")
    line.add_argument("--cable", metavar="IFNAME",
                      help="make IFNAME the other end of a virtual cable to --ring (needs"
                      " CAP_NET_ADMIN)")  # fmt: skip
    line.add_argument("--can", action="append", default=[], type=_can_place, metavar="BUS=PATH",
                      help="where the serial line (slcan) of a CAN bus shall be, or a SocketCAN"
                      " interface; repeatable")  # fmt: skip
    line.add_argument("--can-without-flags", action="store_true",
                      help="the serial adapters report no status flags")  # fmt: skip
    line.add_argument("--mountings", type=Path, metavar="FILE",
                      help="YAML: direction and offset of each drive on its joint")  # fmt: skip
    line.add_argument("--ignore-interrupt", action="store_true",
                      help="end by SIGTERM only, not by Ctrl-C")  # fmt: skip
    add_ring_options(line)
    add_process_options(line)
    return line


def _can_place(text: str) -> tuple[str, str]:
    bus, _, place = text.partition("=")
    if not (bus and place):
        raise argparse.ArgumentTypeError(f"'{text}', expected BUS=PATH")
    return bus, place


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until a stop signal. Return 1 if the robot can't be started or loses a bus."""
    line = parser()
    options = line.parse_args(arguments)
    if not (options.ring or options.can):
        line.error("nothing to answer on: give --ring, --can or both")
    if options.cable and not options.ring:
        line.error(f"--cable {options.cable}: give --ring for its other end")
    return exit_code("robot", partial(_run, options))


def _run(options: argparse.Namespace, cleanup: ExitStack) -> None:
    urdf, actuators = read_urdf(options.urdf), load_actuators(options.actuators)
    joints = actuators.joints
    try:
        plant = MujocoPlant(urdf, actuators.rotors, actuators.frictions, actuators.springs)
    except ConfigError as error:
        raise ConfigError(f"{options.urdf} with {options.actuators}: {error}") from error
    process = TwinProcess(plant, options, cleanup, ignore_interrupt=options.ignore_interrupt)
    mountings = load_mountings(options.mountings, joints) if options.mountings else {}
    robot = _Robot(options, process, plant, mountings, actuators)
    buses = []
    if options.ring:
        buses.append(robot.add_ring())
    buses += [robot.add_can(bus, place) for bus, place in options.can]
    add_joints(process.scheduler, process.commands, plant, actuators, robot.drives, urdf)
    if options.control:
        buses.append(f"control channel {options.control}")
    process.run(f"robot: {', '.join(buses)}")


@dataclass(frozen=True, slots=True)
class _Robot:
    """A plant and its buses; each bus is added with its drives."""

    options: argparse.Namespace
    process: TwinProcess
    plant: MujocoPlant
    mountings: Mountings
    actuators: Actuators
    drives: Drives = field(default_factory=dict)

    def add_ring(self) -> str:
        options, process, joints = self.options, self.process, self.actuators.ring_joints
        if not joints:
            raise ConfigError(f"{options.actuators}: no ring, so nothing answers on {options.ring}")
        if options.cable:
            process.cleanup.enter_context(veth_pair(options.cable, options.ring))
        ring, erobs = build_ring(
            self.plant,
            self.actuators.ring,
            self.mountings,
            process.simulated_time,
            assume(options.assume),
        )
        self.drives.update(zip(joints, erobs, strict=True))
        add_ring(process, ring, options.ring, options)
        return f"{len(ring.slaves)} drives on {options.ring}"

    def add_can(self, bus: str, place: str) -> str:
        actuators = self.actuators
        if bus not in actuators.can:
            known = ", ".join(actuators.can) or "none"
            raise ConfigError(f"{self.options.actuators}: no CAN bus '{bus}', there are {known}")
        rows = actuators.can[bus]
        simulated_time = self.process.simulated_time
        can = build_motors(self.plant, actuators.joints, rows, self.mountings, simulated_time)
        self.drives.update(zip((row.joint for row in rows), can.motors, strict=True))
        commands = add_can(self.process, can, place, f"{bus}_")
        if self.options.can_without_flags:
            commands.flags(False)
        return f"{len(can.motors)} motors at {place}"


if __name__ == "__main__":
    sys.exit(main())
