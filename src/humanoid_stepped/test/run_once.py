"""Write the digest of a run for every seed: `run_once.py FOLDER SEED...`."""

import sys
from pathlib import Path

from test_support.client import Client

from humanoid_control_common.rules.modes import Mode
from humanoid_stepped.participant import Participant
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.trace import Trace


def main(folder: Path, *seeds: int) -> None:
    for seed in seeds:
        robot = SteppedRobot(seed, folder)
        trace = Trace(robot)
        robot.start()
        robot.scheduler.run_for(1.0)
        client = Client(Participant(robot, "operator"))
        client.connect()
        client.reach(Mode.DAMPING)
        client.reach(Mode.STANDBY)
        sys.stdout.write(f"{trace.digest()}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
