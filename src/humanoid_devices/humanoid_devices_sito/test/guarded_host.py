"""A minimal control process: Sito motors held stiff at 50 Hz, with orders line by line.

It prints its actions, one JSON value per line.
"""

from __future__ import annotations

import json
import pickle
import select
import sys
import time
from pathlib import Path

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_devices_can.guard.guard_client import Guard
from humanoid_devices_can.guard.guard_process import GuardProcess
from humanoid_devices_sito.sito_system import SitoSystem

PERIOD = 0.02


def write_line(**what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


def started(guard: Guard) -> int:
    """Wait until the guard watches; return its process id."""
    running = guard._running
    assert isinstance(running, GuardProcess)
    while not running.memory.alive_at:
        time.sleep(0.005)
    return running.pid


def main() -> None:
    info = pickle.loads(Path(sys.argv[1]).read_bytes())
    system = SitoSystem()
    system.on_configure(info)
    count = len(info.joints)
    state, command = JointState(count), JointCommand(count)
    system.on_activate(state)
    command.position[:], command.stiffness[:], command.damping[:] = 0.3, 20.0, 2.0
    write_line(guard=started(system._lifecycle.guard))
    latest = None
    while True:
        system.read(state, 0.0, PERIOD)
        system.write(command, 0.0, PERIOD)
        report = system.safety()
        if report is not latest:
            latest = report
            write_line(level=int(report.level), flags=int(report.flags), message=report.message)
        if not select.select([sys.stdin], [], [], PERIOD)[0]:
            continue
        order = sys.stdin.readline().strip()
        if order == "hang":  # as a very slow controller
            sys.stdin.readline()
        elif order == "clear":
            system.reset_faults()
        else:
            system.loop_ended()
            sys.stdin.readline()
            system.on_deactivate()
            return


if __name__ == "__main__":
    main()
