"""Nodes are gone before the process ends: what is left to its end may crash it."""

import subprocess
import sys

SCRIPT = """
import rclpy
from pathlib import Path
from humanoid_controller_manager.ros_node import configured_node, destroy_nodes

def middleware():
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    # The watchdog of shared memory belongs to no participant.
    return [name for name in names if name.startswith("dds") and name != "dds.shm.wdog"]

rclpy.init()
first, second = configured_node("first", services=True), configured_node("second", services=False)
second.destroy_node()
print(len(middleware()))
destroy_nodes()
print(len(middleware()))
rclpy.try_shutdown()
"""


def test_no_thread_of_the_middleware_is_left_when_the_nodes_are_destroyed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    before, after = map(int, done.stdout.split())
    assert before > 0
    assert after == 0
