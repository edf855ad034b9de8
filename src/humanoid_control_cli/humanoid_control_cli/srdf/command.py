"""`hc srdf`: its options, and the file that it writes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final
from xml.sax.saxutils import quoteattr

import typer

from humanoid_control_cli.up.command import RobotName
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.whole_file import replace_text

_TELL: Final = 5.0  # [s] between two lines of progress
_RATE: Final = 200.0  # [Hz], of no effect on joints and limits


def srdf(
    robot: RobotName = "prime",
    description: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Links and joints in the place of the robot's own: as in `hc up`.",
            show_default="the robot's own",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            metavar="FILE",
            help="File to write. Of one that exists, only the disabled pairs are replaced.",
            show_default="the terminal",
        ),
    ] = None,
    proof_time: Annotated[
        float, typer.Option(min=0.0, help="Time for the proofs [s]; pairs left over stay checked.")
    ] = 300.0,
) -> None:
    """Write the pairs of links that need no check for self-collision, as an SRDF.

    Adjacent: one joint moves them. Never: no angles within the joint limits let them touch, which
    is proven. Default, Always: their shapes overlap at the zero pose, or at all of many poses;
    correct these shapes rather than accept them.
    """
    from collections import Counter

    from humanoid_bringup.robot_package import find_robot
    from humanoid_controller_manager.hardware.urdf import parse_robot_description
    from humanoid_motion.collision.collision_model import CollisionModel
    from humanoid_motion.collision.disabled_pairs import disabled_pairs
    from humanoid_motion.collision.semantic_description import with_disabled_pairs

    package = find_robot(robot, description or "")
    urdf = package.expand({"use_sim": "true"})
    known = parse_robot_description(urdf, _RATE)
    before = _empty(known.name) if output is None else _present(output, known.name)
    model = CollisionModel(urdf, known.joints.names, {})
    limits = known.limits
    pairs, undecided = disabled_pairs(model, limits.lower, limits.upper, _watch(proof_time))
    if undecided:
        names = ", ".join(f"{pair.first} - {pair.second}" for pair in undecided)
        typer.echo(f"hc: not decided in time, so still checked: {names}", err=True)
    text = with_disabled_pairs(before, pairs, str(output))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        replace_text(output, text)
    except OSError as error:
        raise ConfigError(f"{output}: cannot be written: {error.strerror}") from error
    counts = ", ".join(
        f"{count} {cause}" for cause, count in sorted(Counter(pairs.values()).items())
    )
    typer.echo(f"{output}: {len(pairs)} pairs need no check ({counts or 'none'})")


def _watch(seconds: float) -> Callable[[int, int], bool]:
    """Return `go_on` of `disabled_pairs`, which shows the progress and ends it in time."""
    end = time.monotonic() + seconds
    told = [time.monotonic()]

    def go_on(done: int, count: int) -> bool:
        now = time.monotonic()
        if now > told[0] + _TELL:
            told[0] = now
            typer.echo(f"hc: {done} of {count} pairs, {end - now:.0f} s more at most", err=True)
        return now < end

    return go_on


def _present(file: Path, robot: str) -> str:
    """Return the text of `file`, or an empty description if there is none.

    Raises ConfigError for a file of another robot.
    """
    from humanoid_control_common.configuration.config import read_text  # late: slow to import
    from humanoid_motion.collision.semantic_description import refuse_other_robot

    if not file.exists():
        return _empty(robot)
    text = read_text(file)
    refuse_other_robot(text, robot, str(file))
    return text


def _empty(robot: str) -> str:
    return f"<robot name={quoteattr(robot)}/>"
