"""The settings of Fast DDS: no shared memory, and the range of the environment."""

import os
import subprocess
import sys

import pytest

from humanoid_control_common.middleware.fastdds_tuning import PROFILE_VARIABLES, tune_middleware

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
THREADS = """
import os, rclpy
from pathlib import Path
from rclpy.utilities import get_rmw_implementation_identifier
from humanoid_control_common.middleware.fastdds_tuning import tune_middleware
tune_middleware(get_rmw_implementation_identifier())
rclpy.init()
node = rclpy.create_node("tuned")
print(*[(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()])
inodes = {os.readlink(file).strip("socket:[]") for file in Path("/proc/self/fd").iterdir()
          if file.is_symlink()}
for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
    if line.split()[9] in inodes:
        print(line.split()[1].split(":")[0])
"""
LOOPBACK = "0100007F"
OWN = (RANGE, "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", *PROFILE_VARIABLES)


def run(**environment: str) -> tuple[list[str], set[str]]:
    """Thread names and addresses of the sockets of a process in this environment."""
    clean = {name: text for name, text in os.environ.items() if name not in OWN}
    result = subprocess.run(
        [sys.executable, "-c", THREADS],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    threads, *addresses = result.stdout.splitlines()
    return threads.split(), set(addresses)


@pytest.mark.parametrize("name", [RANGE, "ROS_LOCALHOST_ONLY"])
def test_fastdds_on_one_machine_uses_the_loopback_only(name: str) -> None:
    threads, addresses = run(**{name: "LOCALHOST" if name == RANGE else "1"})
    assert not [thread for thread in threads if "shm" in thread]
    assert any(thread.startswith("dds.udp") for thread in threads)
    assert addresses == {LOOPBACK}


def test_fastdds_on_a_network_uses_no_shared_memory() -> None:
    threads, addresses = run(**{RANGE: "SUBNET"})
    assert not [thread for thread in threads if "shm" in thread]
    assert addresses != {LOOPBACK}


def test_a_profile_of_the_users_own_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROFILE_VARIABLES[0], "/etc/custom/profile.xml")
    monkeypatch.setenv(RANGE, "LOCALHOST")
    before = dict(os.environ)
    tune_middleware("rmw_fastrtps_cpp")
    assert dict(os.environ) == before


def test_tuning_changes_nothing_for_another_middleware(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RANGE, "LOCALHOST")
    before = dict(os.environ)
    tune_middleware("rmw_cyclonedds_cpp")
    assert dict(os.environ) == before


def test_peers_beside_this_machine_are_left_to_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RANGE, "LOCALHOST")
    monkeypatch.setenv("ROS_STATIC_PEERS", "10.77.0.2")
    before = dict(os.environ)
    tune_middleware("rmw_fastrtps_cpp")
    assert dict(os.environ) == before
