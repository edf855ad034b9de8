"""A CAN bus alone: `python -m humanoid_twin.can.main PATH --family sito --ids 22,23`."""

import argparse
import logging
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_twin.assembly import Assembly
from humanoid_twin.can.place import add_can
from humanoid_twin.can.robot import CanJoint, build_can
from humanoid_twin.control.commands import JointCommands
from humanoid_twin.drive.plant import Inertia, SingleInertias

_log = logging.getLogger(__name__)
_MODELS: Final = {"sito": "TA40-50", "robstride": "rs-02"}  # unless --model says otherwise
_LIMB: Final = Inertia(inertia=0.02, viscous=0.02)  # [kg m²], [Nm s/rad] a hand, weightless


def parser() -> argparse.ArgumentParser:
    """The command line."""
    line = argparse.ArgumentParser(prog="can", description="Virtual CAN motors on flywheels.")
    line.add_argument("place", metavar="PATH",
                      help="of a serial line (slcan) to be, or a SocketCAN interface")  # fmt: skip
    line.add_argument("--family", choices=sorted(_MODELS), default="sito",
                      help="of all motors (default: sito)")  # fmt: skip
    line.add_argument("--ids", type=_ids, default=(22, 23, 38, 39), metavar="ID,ID...",
                      help="CAN ids (default: 22,23,38,39)")  # fmt: skip
    line.add_argument("--model", help="of all motors (default: TA40-50 or rs-02)")
    line.add_argument("--without-flags", action="store_true",
                      help="the serial adapter tells no status flags")  # fmt: skip
    line.add_argument("--control", type=Path, metavar="SOCKET", help="where to be controlled")
    line.add_argument("--clock", choices=["wall", "stepped"], default="wall",
                      help="stepped: time passes by command only")  # fmt: skip
    line.add_argument("--realtime", action="store_true", help="ask for SCHED_FIFO")
    return line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. 1 if the bus can't be started."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="can: %(message)s")
    options = parser().parse_args(arguments)
    try:
        with ExitStack() as cleanup:
            _run(options, cleanup)
    except (RobotError, OSError) as error:
        _log.error("%s", error)
        return 1
    return 0


def _run(options: argparse.Namespace, cleanup: ExitStack) -> None:
    ids: tuple[int, ...] = options.ids
    plant = SingleInertias([_LIMB] * len(ids))
    process = Assembly(plant, stepped=options.clock == "stepped", cleanup=cleanup)
    process.commands.add(JointCommands(plant, [str(device) for device in ids]))
    model = options.model or _MODELS[options.family]
    joints = {
        device: CanJoint(index=index, family=options.family, model=model)
        for index, device in enumerate(ids)
    }
    commands = add_can(process, build_can(plant, joints, process.moment), options.place)
    if options.without_flags:
        commands.flags(False)
    greeting = f"can: {len(ids)} motors at {options.place}"
    process.run(options.control, greeting, realtime=options.realtime)


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
