"""Nodes are gone before the process ends: what is left to its end may crash it."""

import subprocess
import sys

SCRIPT = """
from pathlib import Path
from humanoid_controller_manager.ros_node import configured_node, ros_session

def middleware():
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    # The watchdog of shared memory belongs to no participant.
    return [name for name in names if name.startswith("dds") and name != "dds.shm.wdog"]

with ros_session([]):
    first = configured_node("first", services=True)
    configured_node("second", services=False).destroy_node()
    print(len(middleware()))
print(len(middleware()))
"""


def test_no_thread_of_the_middleware_is_left_when_a_session_has_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    before, after = map(int, done.stdout.split())
    assert before > 0
    assert after == 0
