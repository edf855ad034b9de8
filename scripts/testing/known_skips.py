"""Tests that may be skipped, with the reason and the condition of the machine.

The conditions are checked when a test was skipped: a skip without a matching one fails.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from verdict import Skip

CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN, CAP_SYS_NICE = 12, 13, 21, 23  # <linux/capability.h>
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_ENDS: Final = (f"skip{os.getpid()}a", f"skip{os.getpid()}b")


def lacks_program(*names: str) -> Callable[[], bool]:
    """None of these is installed."""
    return lambda: not any(shutil.which(name, path=_PATH) for name in names)


def lacks_module(*names: str) -> Callable[[], bool]:
    """One of these is not installed."""
    return lambda: any(importlib.util.find_spec(name) is None for name in names)


def lacks_right(*capabilities: int) -> Callable[[], bool]:
    """One of these is not held."""

    def lacks() -> bool:
        status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        (held,) = (int(line.split()[1], 16) for line in status if line.startswith("CapEff"))
        return any(not held >> number & 1 for number in capabilities)

    return lacks


def _ip_fails(*words: str) -> bool:
    program = shutil.which("ip", path=_PATH)
    if program is None:
        return True
    return bool(subprocess.run([program, *words], check=False, capture_output=True).returncode)


def lacks_veth() -> bool:
    """No pair of virtual network interfaces can be made."""
    if _ip_fails("link", "add", _ENDS[0], "type", "veth", "peer", "name", _ENDS[1]):
        return True
    return _ip_fails("link", "delete", _ENDS[0])


def lacks_namespaces() -> bool:
    """No network namespace with a bridge can be made."""
    name = _ENDS[0]
    lacks = _ip_fails("netns", "add", name)
    lacks = lacks or _ip_fails("-n", name, "link", "add", "switch", "type", "bridge")
    _ip_fails("netns", "delete", name)
    return lacks


def lacks_grpc_for_cpp() -> bool:
    """The tools of gRPC for C++ are not all installed."""
    programs = ("/usr/bin/protoc", "grpc_cpp_plugin", "g++", "pkg-config")
    if any(lacks_program(name)() for name in programs):
        return True
    words = ["pkg-config", "--exists", "grpc++", "protobuf"]
    return bool(subprocess.run(words, check=False).returncode)


def lacks_ros2_security() -> bool:
    """There is no `ros2 security`."""
    program = shutil.which("ros2")
    words = [program or "false", "security", "-h"]
    return bool(subprocess.run(words, check=False, capture_output=True).returncode)


def _is_not_root() -> bool:
    return os.geteuid() != 0


def _has_socketcan() -> bool:
    return Path("/proc/net/can").exists()


PRIME: Final = "src/humanoid_bringup_prime/test/"
CLI: Final = "src/humanoid_control_cli/test/"
CAN: Final = "src/humanoid_devices/humanoid_devices_can/test/"
EROB: Final = "src/humanoid_devices/humanoid_devices_erob/test/"
TWIN: Final = "src/humanoid_twin/test/"
_NO_VETH: Final = "no pair of virtual network interfaces can be made"
_LAUNCH: Final = "the launch system is not installed"
_LAUNCH_FILES: Final = Skip(
    f"{PRIME}launch/", _LAUNCH, "launch or launch_ros is not installed (the wheels lack them)",
    lacks_module("launch", "launch_ros", "launch_testing"),
)  # fmt: skip


def _browser(tests: str) -> Skip:
    # Ubuntu has its Chromium outside of apt.
    return Skip(
        tests, "chromium is not installed", "there is no chromium",
        lacks_program("chromium", "chromium-browser", "google-chrome"),
    )  # fmt: skip


def _ring(tests: str) -> Skip:
    """The fixture of a virtual cable gives the reason: any one, if no cable can be made."""
    return Skip(tests, "", _NO_VETH, lacks_veth)


SKIPS: Final[Sequence[Skip]] = (
    _LAUNCH_FILES,
    Skip(
        "tests/workspace/test_joint_stream_messages.py", "needs protoc",
        "there is no protoc (its wheel is for x86_64)", lacks_program("protoc"),
    ),
    Skip(
        f"{PRIME}launch/test_twin_launch.py", "the virtual cable needs root",
        "rights to raw Ethernet are missing", lacks_right(CAP_NET_ADMIN, CAP_NET_RAW),
    ),
    Skip(
        f"{PRIME}test_control_services.py", "controller_manager_msgs is not installed",
        "controller_manager_msgs is not installed (the wheels lack it)",
        lacks_module("controller_manager_msgs"),
    ),
    Skip(
        "src/humanoid_controllers/test/trajectory/test_action.py", "control_msgs is not installed",
        "control_msgs is not installed (the wheels lack it)", lacks_module("control_msgs"),
    ),
    Skip(
        "src/humanoid_servo_controllers/test/test_joint_controller_state.py",
        "control_msgs is not installed", "control_msgs is not installed (the wheels lack it)",
        lacks_module("control_msgs"),
    ),
    Skip(
        "src/humanoid_control_cli/test/test_friction.py", "matplotlib is not installed",
        "matplotlib is not installed (`make policy` does it)", lacks_module("matplotlib"),
    ),
    Skip(
        f"{PRIME}test_security.py", "`ros2 security` (sros2) is not installed",
        "`ros2 security` is not installed (the wheels lack it)", lacks_ros2_security,
    ),
    _browser("src/humanoid_viz/test/test_browser.py"),
    _browser(f"{PRIME}test_viewer.py"),
    _browser(f"{CLI}test_two_machines.py"),
    _browser(f"{CLI}test_record_replay.py"),
    Skip(
        "src/prime_description/test/test_model.py", "check_urdf is not installed",
        "there is no check_urdf (liburdfdom-tools)", lacks_program("check_urdf"),
    ),
    Skip(
        f"{TWIN}ethercat/acceptance/test_capture.py", "tshark is not installed",
        "there is no tshark", lacks_program("tshark"),
    ),
    Skip(
        "src/humanoid_recording/test/black_box/test_black_box.py", "mounting needs root",
        "nothing can be mounted (no CAP_SYS_ADMIN)", lacks_right(CAP_SYS_ADMIN),
    ),
    Skip(
        f"{PRIME}test_control_process.py", "needs real-time priorities",
        "the tests don't run as root", _is_not_root,
    ),
    Skip(
        f"{CAN}test_engine.py", "no real-time priority is permitted",
        "no real-time priority is permitted (no CAP_SYS_NICE)", lacks_right(CAP_SYS_NICE),
    ),
    Skip(f"{CAN}test_bus.py", "this kernel has SocketCAN", "it has", _has_socketcan),
    Skip(
        f"{CLI}test_bus_check.py", "drops rights",
        "the tests don't run as root, or there is no setpriv",
        lambda: _is_not_root() or lacks_program("setpriv")(),
    ),
    Skip(
        "tests/tooling/test_docker.py", "only root can become another user",
        "the tests don't run as root, or there is no setpriv",
        lambda: _is_not_root() or lacks_program("setpriv")(),
    ),
    Skip(
        "tests/tooling/test_check_files.py",
        "shellcheck is not installed",
        "there is no shellcheck",
        lacks_program("shellcheck"),
    ),
    Skip(
        "tests/performance/test_benchmarks.py", "only root", "the tests don't run as root",
        _is_not_root,
    ),
    Skip(
        f"{CLI}test_two_machines.py", "", "no network namespaces with bridges can be made",
        lacks_namespaces,
    ),
    Skip(
        f"{CLI}test_joint_stream_network.py", "", "no network namespaces can be made",
        lambda: lacks_namespaces() or lacks_veth(),
    ),
    Skip(
        f"{TWIN}ethercat/acceptance/test_process.py", "no network namespaces here",
        "no network namespaces can be made", lacks_namespaces,
    ),
    Skip(
        "src/humanoid_joint_stream/test/test_cpp_client.py", "tools of gRPC for C++",
        "libgrpc++-dev, protobuf-compiler-grpc, g++ or pkg-config is not installed",
        lacks_grpc_for_cpp,
    ),
    Skip(
        f"{EROB}sdo/test_on_the_ring.py", "a veth pair needs", "rights to raw Ethernet are missing",
        lacks_right(CAP_NET_ADMIN, CAP_NET_RAW),
    ),
    _ring(f"{CLI}test_ring.py"),
    _ring(f"{CLI}test_twin.py"),
    _ring(f"{PRIME}test_calibration.py"),
    _ring(f"{PRIME}calibration/test_on_the_robot.py"),
    _ring(f"{PRIME}test_real.py"),
    _ring(f"{PRIME}test_whole_robot.py"),
    _ring(f"{EROB}system/"),
    _ring(f"{TWIN}robot/"),
    _ring(f"{TWIN}ethercat/acceptance/"),
)  # fmt: skip
