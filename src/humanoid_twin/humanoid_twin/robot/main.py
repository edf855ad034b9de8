"""The virtual robot: `python -m humanoid_twin.robot.main --urdf FILE --ring IFNAME --can PATH`."""

import argparse
import logging
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from humanoid_control_common.errors import RobotError
from humanoid_twin.assembly import Assembly
from humanoid_twin.assumptions import HELP, assume
from humanoid_twin.can.motor import CanMotor
from humanoid_twin.can.place import add_can
from humanoid_twin.control.commands import JointCommands
from humanoid_twin.drive.erob import ErobDrive
from humanoid_twin.ethercat.place import RingPlace, add_ring
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.ethercat.veth import veth_pair
from humanoid_twin.mountings import load_mountings
from humanoid_twin.physics.commands import PhysicsCommands
from humanoid_twin.physics.encoders import EncoderCommands
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.physics.recorder import Recorder
from humanoid_twin.prime import CAN_JOINTS, JOINTS, RING_JOINTS, ROTORS
from humanoid_twin.robot.build import Mountings, build_drives, build_wrists, read_urdf

_log = logging.getLogger(__name__)
Drives = dict[str, ErobDrive | CanMotor]  # by joint


def parser() -> argparse.ArgumentParser:
    """The command line."""
    line = argparse.ArgumentParser(prog="robot", description="Prime, virtually, on both buses.")
    line.add_argument("--urdf", type=Path, required=True, metavar="FILE",
                      help="geometry and masses of Prime")  # fmt: skip
    line.add_argument("--ring", metavar="IFNAME", help="Ethernet interface the ten eRobs answer on")
    line.add_argument("--cable", metavar="IFNAME",
                      help="make IFNAME the other end of a virtual cable to --ring (needs"
                      " CAP_NET_ADMIN)")  # fmt: skip
    line.add_argument("--can", metavar="PATH",
                      help="where the serial line (slcan) of the four wrists' bus shall be, or a"
                      " SocketCAN interface")  # fmt: skip
    line.add_argument("--can-without-flags", action="store_true",
                      help="the serial adapter tells no status flags")  # fmt: skip
    line.add_argument(
        "--control", type=Path, metavar="SOCKET", help="socket of the control channel"
    )
    line.add_argument("--mountings", type=Path, metavar="FILE",
                      help="YAML: direction and offset of each drive on its joint")  # fmt: skip
    line.add_argument("--mailbox-delay-ms", type=float, default=0.0, metavar="D",
                      help="from an SDO request to its answer (default: 0)")  # fmt: skip
    line.add_argument("--clock", choices=["wall", "stepped"], default="wall",
                      help="stepped: time passes by frames and by command only")  # fmt: skip
    line.add_argument("--capture", type=Path, metavar="FILE", help="pcap file of the ring's frames")
    line.add_argument("--seed", type=int, default=0, help="of random losses (default: 0)")
    line.add_argument("--assume", action="append", default=[], metavar="NAME=VALUE", help=HELP)
    line.add_argument("--ignore-interrupt", action="store_true",
                      help="end by SIGTERM only: Ctrl-C is for its users")  # fmt: skip
    line.add_argument("--realtime", action="store_true", help="ask for SCHED_FIFO")
    return line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until it is asked to end. 1 if the robot can't be started or loses a bus."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="robot: %(message)s")
    line = parser()
    options = line.parse_args(arguments)
    if not (options.ring or options.can):
        line.error("nothing to answer on: give --ring, --can or both")
    if options.cable and not options.ring:
        line.error(f"--cable {options.cable}: give --ring for its other end")
    if not options.mailbox_delay_ms >= 0:
        line.error(f"--mailbox-delay-ms {options.mailbox_delay_ms}: expected 0 or more")
    try:
        with ExitStack() as cleanup:
            _run(options, cleanup)
    except (RobotError, OSError) as error:
        _log.error("%s", error)
        return 1
    return 0


def _run(options: argparse.Namespace, cleanup: ExitStack) -> None:
    urdf = read_urdf(options.urdf)
    plant = MujocoPlant(urdf, ROTORS)
    process = Assembly(
        plant,
        stepped=options.clock == "stepped",
        cleanup=cleanup,
        ignore_interrupt=options.ignore_interrupt,
    )
    process.commands.add(JointCommands(plant, JOINTS))
    mountings = load_mountings(options.mountings, JOINTS) if options.mountings else {}
    robot = _Robot(options, process, plant, mountings)
    buses, drives = [], robot.drives
    if options.ring:
        buses.append(robot.add_ring())
    if options.can:
        buses.append(robot.add_can())
    recorder = Recorder(plant, JOINTS, [drives.get(joint, _Undriven()) for joint in JOINTS])
    process.world.on_step = recorder.stepped
    process.commands.add(PhysicsCommands(Loads(plant.model, plant.data, urdf), recorder))
    process.commands.add(EncoderCommands({joint: it.shaft for joint, it in drives.items()}))
    if options.control:
        buses.append(f"control channel {options.control}")
    process.run(options.control, f"robot: {', '.join(buses)}", realtime=options.realtime)


class _Undriven:
    """A joint whose bus isn't there."""

    def spring(self) -> tuple[float, float]:
        """See Spring."""
        return 0.0, 0.0


@dataclass(frozen=True, slots=True)
class _Robot:
    """What is moved, and the buses it answers on; each is added with its drives."""

    options: argparse.Namespace
    process: Assembly
    plant: MujocoPlant
    mountings: Mountings
    drives: Drives = field(default_factory=dict)

    def add_ring(self) -> str:
        options, process = self.options, self.process
        if options.cable:
            process.cleanup.enter_context(veth_pair(options.cable, options.ring))
        facts = assume(options.assume)
        erobs = build_drives(self.plant, self.mountings, facts.drive)
        self.drives.update(zip(RING_JOINTS, erobs, strict=True))
        ring = VirtualRing(erobs, process.moment, facts.slave)
        commands = add_ring(process, ring, RingPlace(options.ring, options.capture, options.seed))
        commands.mailbox_delay(options.mailbox_delay_ms / 1e3)
        return f"{len(ring.slaves)} drives on {options.ring}"

    def add_can(self) -> str:
        can = build_wrists(self.plant, self.mountings, self.process.moment)
        self.drives.update(zip(CAN_JOINTS.values(), can.motors, strict=True))
        commands = add_can(self.process, can, self.options.can)
        if self.options.can_without_flags:
            commands.flags(False)
        return f"{len(can.motors)} motors at {self.options.can}"


if __name__ == "__main__":
    sys.exit(main())
