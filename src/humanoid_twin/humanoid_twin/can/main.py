"""A CAN bus alone: `python -m humanoid_twin.can.main PATH --family sito --ids 22,23`."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from humanoid_twin.can.attach import add_can
from humanoid_twin.can.motors.build import CanJoint, build_can
from humanoid_twin.can.motors.families import DEFAULT_MODELS, MOTOR_FAMILIES
from humanoid_twin.control.commands import JointCommands
from humanoid_twin.physics.plant import Inertia, SingleInertias
from humanoid_twin.twin_process import TwinProcess, add_process_options, exit_code

_LIMB: Final = Inertia(inertia=0.02, viscous=0.02)  # [kg m²], [Nm s/rad] a hand, weightless


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    line = argparse.ArgumentParser(prog="can", description="Virtual CAN motors on flywheels.")
    line.add_argument("place", metavar="PATH",
                      help="serial line (slcan) to create, or a SocketCAN interface")  # fmt: skip
    line.add_argument("--family", choices=sorted(MOTOR_FAMILIES), default="sito",
                      help="of all motors (default: sito)")  # fmt: skip
    line.add_argument("--ids", type=_ids, default=(22, 23, 38, 39), metavar="ID,ID...",
                      help="CAN ids (default: 22,23,38,39)")  # fmt: skip
    line.add_argument("--model", help=f"of all motors (default: {DEFAULT_MODELS})")
    line.add_argument("--without-flags", action="store_true",
                      help="the serial adapter reports no status flags")  # fmt: skip
    add_process_options(line)
    return line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Return 1 if the bus can't be started."""
    options = parser().parse_args(arguments)
    ids: tuple[int, ...] = options.ids
    model = options.model or MOTOR_FAMILIES[options.family].default_model

    def run(cleanup: ExitStack) -> None:
        plant = SingleInertias([_LIMB] * len(ids))
        process = TwinProcess(plant, options, cleanup)
        process.commands.add(JointCommands(plant, [str(device) for device in ids]))
        joints = {
            device: CanJoint(index=index, family=options.family, model=model)
            for index, device in enumerate(ids)
        }
        can = build_can(plant, joints, process.simulated_time)
        commands = add_can(process, can, options.place, "can_")
        if options.without_flags:
            commands.flags(False)
        process.run(f"can: {len(ids)} motors at {options.place}")

    return exit_code("can", run)


def _ids(text: str) -> tuple[int, ...]:
    try:
        ids = tuple(int(word, 0) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}', expected numbers like 22,23") from None
    if len(set(ids)) != len(ids):
        raise argparse.ArgumentTypeError(f"'{text}' names a motor twice")
    return ids


if __name__ == "__main__":
    sys.exit(main())
