"""Run the fault campaign: random faults on the whole robot, judged by the virtual robot's truth.

The robot runs on one simulated clock. Every trial has a seed; a violation is printed with the
command that repeats it.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import SystemRandom

from fault_campaign.campaign import Entry, drawn
from fault_campaign.controls import controls_of, convictions, text_of
from fault_campaign.kinds.catalogue import kinds_of
from fault_campaign.kinds.kind import Kind
from fault_campaign.report import line, print_table, write_json
from fault_campaign.robot_joints import RobotJoints
from fault_campaign.stepped.campaign import campaign
from fault_campaign.stepped.traced import traced
from humanoid_bringup.robot_package import DEFAULT
from humanoid_control_common.errors import ConfigError, RobotError


def main(words: Sequence[str] | None = None) -> int:
    """Return the exit code. 0: no violation; 1: a violation, or no trial; 2: wrong options."""
    options = _parser().parse_args(words)
    try:
        robot = RobotJoints.of_robot(options.robot)
        robot.check_hands()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    kinds = _chosen(kinds_of(robot), options.kind)
    if wrong := _wrong(options, kinds):
        sys.stderr.write(f"{wrong}\n")
        return 2
    if options.list:
        for it in kinds:
            print(f"{it.name}: {it.outcome.value}, within {it.within:g} s")
        return 0
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    if options.controls:
        return _controls(robot)
    entries: list[Entry] = []
    try:
        _run(kinds, options, entries)
    except RobotError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    finally:  # an early end still reports the results so far
        violated = sum(bool(entry.news) for entry in entries)
        print_table(entries)
        print(f"{violated} of {len(entries)} trials violated a demand")
        if options.json:
            write_json(entries, options.json)
    return int(violated > 0 or not entries)


def _wrong(options: argparse.Namespace, kinds: Sequence[Kind]) -> str:
    """Return the errors in the options; empty: none."""
    if not kinds:
        return f"{options.robot} has no kind with '{options.kind}' in its name; --list shows them"
    if options.trace and (options.trial is None or len(kinds) > 1):
        found = f"'{options.kind}' is in the name of {len(kinds)}; --list shows them"
        return f"--trace needs --trial and one --kind: {found}"
    return ""


def _chosen(known: Mapping[str, Kind], word: str) -> list[Kind]:
    """Return the kind of that name, or all kinds with the word in their names."""
    return [known[word]] if word in known else [it for name, it in known.items() if word in name]


def _controls(robot: RobotJoints) -> int:
    """Return the exit code. 0: the judge found all defects."""
    convicted, controls = 0, controls_of(robot)
    for conviction in convictions(controls):
        print(text_of(conviction), flush=True)
        convicted += conviction.convicted
    print(f"{convicted} of {len(controls)} sabotaged stacks convicted")
    return int(convicted < len(controls))


def _run(kinds: Sequence[Kind], options: argparse.Namespace, entries: list[Entry]) -> None:
    """Run the trials; add each that is settled to `entries`."""
    seed = SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    trials = drawn(kinds, len(kinds) if options.count is None else options.count, seed)
    if options.trial is not None:
        trials = [(kind, options.trial) for kind in kinds for _ in range(options.count or 1)]
    else:
        print(f"{len(trials)} trials of {len(kinds)} kinds, --seed {seed}", flush=True)
    run = partial(traced, folder=options.trace) if options.trace else campaign
    for entry in run(trials):
        entries.append(entry)
        print(f"{len(entries):4} {line(entry)}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fault_campaign", description=__doc__)
    parser.add_argument("--robot", default=DEFAULT, help="it has its own kinds; else %(default)s")
    parser.add_argument("--count", type=int, help="trials; else one of each kind")
    parser.add_argument("--seed", type=int, help="of the campaign; else a random one, printed")
    parser.add_argument("--kind", default="", help="only kinds with this in their names")
    parser.add_argument("--trial", type=int, metavar="SEED", help="repeat the trial of this seed")
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="FOLDER",
        help="of --trial: write a bag and the frames of both buses there",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results there")
    parser.add_argument(
        "--controls", action="store_true", help="sabotage the stack: each must be convicted"
    )
    parser.add_argument("--list", action="store_true", help="only name the kinds")
    return parser
