"""Findings of `hc doctor`, on simulated machines and on this one."""

import os
import re
import resource
from pathlib import Path

import pytest
from rclpy.utilities import get_rmw_implementation_identifier
from rich.console import Console

from humanoid_bringup.preflight import network
from humanoid_bringup.preflight.findings import Finding, Level, missing, ok, warning
from humanoid_control_cli.doctor import workspace
from humanoid_control_cli.doctor.system import (
    fifo_is_permitted,
    governor,
    kernel,
    locked_memory,
    scheduling,
    timers,
)
from humanoid_control_cli.doctor.view import show
from humanoid_control_common.machine.rights import (
    RAW_ETHERNET,
    Capability,
    MissingRightsError,
    held_capabilities,
    require_capabilities,
)
from humanoid_control_common.machine.rights import remedy as grant

ALL = frozenset(Capability)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A /sys and a /proc with one correct interface, ecm0."""
    write(tmp_path / "sys/class/net/ecm0", flags="0x1003", carrier="1", speed="100", ifindex="7")
    (tmp_path / "sys/class/net/ecm0/device").mkdir()
    (tmp_path / "drivers/igb").mkdir(parents=True)
    (tmp_path / "sys/class/net/ecm0/device/driver").symlink_to(tmp_path / "drivers/igb")
    write(
        tmp_path / "proc/net",
        if_inet6="fe80000000000000021122fffe334455 08 40 20 80 other\n",
        packet="sk RefCnt Type Proto Iface R Rmem User Inode\n0 3 3 88a4 6 1 0 0 1\n",
    )
    return tmp_path


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content)


def interface(machine: Path, name: str = "ecm0") -> dict[str, Finding]:
    found = network.interface(name, machine / "sys", machine / "proc")
    return {finding.subject: finding for finding in found}


def test_a_good_interface_is_found_good(machine: Path) -> None:
    found = interface(machine)
    assert {finding.level for finding in found.values()} == {Level.OK}
    assert found["interface ecm0"].found == "driver igb"
    assert found["link"].found == "up, 100 Mbit/s"


@pytest.mark.parametrize(
    ("file", "content", "subject", "level", "message"),
    [
        ("flags", "0x1002", "link", Level.MISSING, "ecm0 is down"),
        ("carrier", "0", "link", Level.MISSING, "nothing answers"),
        ("speed", "1000", "link", Level.WARNING, "1000 Mbit/s, expected 100"),
        ("wireless/x", "", "interface ecm0", Level.MISSING, "wireless"),
    ],
)
def test_a_bad_interface_is_found_out(
    machine: Path, file: str, content: str, subject: str, level: Level, message: str
) -> None:
    path = machine / "sys/class/net/ecm0" / file
    write(path.parent, **{path.name: content})
    found = interface(machine)[subject]
    assert found.level is level
    assert message in found.found
    assert found.remedy


def test_an_interface_that_does_not_exist_is_reported_with_those_that_do(machine: Path) -> None:
    (found,) = interface(machine, "eth9").values()
    assert found.level is Level.MISSING
    assert "there are ecm0" in found.found
    assert "hc twin veth" in found.remedy


def test_an_address_on_the_ring_is_found(machine: Path) -> None:
    table = machine / "proc/net/if_inet6"
    table.write_text(table.read_text().replace("other", "ecm0"))
    found = interface(machine)["addresses"]
    assert found.level is Level.WARNING
    assert "fe80::211:22ff:fe33:4455" in found.found


def test_the_ipv4_address_of_an_interface_is_found(machine: Path) -> None:
    (machine / "sys/class/net/ecm0").rename(machine / "sys/class/net/lo")
    assert "127.0.0.1" in interface(machine, "lo")["addresses"].found


def test_doctor_finds_a_second_master_on_the_interface(machine: Path) -> None:
    packet = machine / "proc/net/packet"
    packet.write_text(packet.read_text().replace("88a4 6", "88a4 7"))
    found = interface(machine)["other master"]
    assert found.level is Level.WARNING


def test_a_virtual_interface_has_no_speed_to_judge(machine: Path) -> None:
    folder = machine / "sys/class/net/ecm0"
    (folder / "device/driver").unlink()
    (folder / "device").rmdir()
    (folder / "speed").write_text("10000")
    assert interface(machine)["interface ecm0"].found.startswith("virtual")
    assert interface(machine)["link"].level is Level.OK


@pytest.mark.parametrize(
    ("flag", "version", "level", "message"),
    [
        ("1", "#1 SMP PREEMPT_RT Debian", Level.OK, "6.1.0, PREEMPT_RT"),
        ("0", "#1 SMP PREEMPT_DYNAMIC", Level.WARNING, "6.1.0, PREEMPT_DYNAMIC: no real-time"),
        (None, "#1 SMP", Level.WARNING, "6.1.0, without preemption"),
    ],
)
def test_a_real_time_kernel_is_distinguished_from_others(
    tmp_path: Path, flag: str | None, version: str, level: Level, message: str
) -> None:
    write(tmp_path / "kernel", **({"realtime": flag} if flag else {}))
    found = kernel("6.1.0", version, tmp_path)
    assert found.level is level
    assert message in found.found


def test_a_refused_priority_is_reported_with_the_remedy() -> None:
    assert scheduling(True).level is Level.OK
    refused = scheduling(False)
    assert refused.level is Level.WARNING
    assert "rtprio" in refused.remedy


def test_trying_the_priority_leaves_this_thread_as_it_was() -> None:
    before = os.sched_getscheduler(0)
    fifo_is_permitted()
    assert os.sched_getscheduler(0) == before


def test_memory_can_be_locked_by_a_limit_or_by_a_capability() -> None:
    assert locked_memory(frozenset(), resource.RLIM_INFINITY).level is Level.OK
    assert locked_memory(frozenset({Capability.IPC_LOCK}), 65536).level is Level.OK
    limited = locked_memory(frozenset(), 8 << 20)
    assert (limited.level, limited.found) == (Level.WARNING, "limited to 8192 KiB")
    assert "memlock" in limited.remedy


def test_timers_of_a_jiffy_are_too_coarse(tmp_path: Path) -> None:
    write(tmp_path / "self", timerslack_ns="50000\n")
    assert timers(tmp_path, resolution=0.004).level is Level.MISSING
    assert "slack 50 us" in timers(tmp_path, resolution=1e-9).found


@pytest.mark.parametrize(
    ("governors", "level"),
    [
        (("performance", "performance"), Level.OK),
        (("performance", "powersave"), Level.WARNING),
        ((), Level.OK),
    ],
)
def test_every_processor_has_to_keep_its_clock(
    tmp_path: Path, governors: tuple[str, ...], level: Level
) -> None:
    for i, name in enumerate(governors):
        write(tmp_path / f"devices/system/cpu/cpu{i}/cpufreq", scaling_governor=f"{name}\n")
    assert governor(tmp_path).level is level


def test_missing_rights_only_matter_where_there_is_a_ring() -> None:
    partly = frozenset({Capability.NET_RAW})
    assert network.raw_ethernet(ALL, needed=True).level is Level.OK
    found = network.raw_ethernet(partly, needed=True)
    assert found.level is Level.MISSING
    assert found.found == "not permitted: CAP_NET_ADMIN missing"
    assert network.raw_ethernet(partly, needed=False).level is Level.WARNING


def test_a_user_gets_the_shell_with_rights_and_root_the_container_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "setpriv" in grant()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--cap-add" in grant()


def test_the_rights_of_this_process_are_those_of_the_kernel(tmp_path: Path) -> None:
    write(tmp_path / "self", status="Name:\tx\nCapEff:\t0000000000802000\n")
    assert held_capabilities(tmp_path) == {Capability.NET_RAW, Capability.SYS_NICE}


def test_missing_capability_is_named_with_the_action_that_requires_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = frozenset({Capability.NET_ADMIN})
    monkeypatch.setattr("humanoid_control_common.machine.rights.held_capabilities", lambda: none)
    message = "^a ring on ecs0 needs CAP_NET_RAW, which this process lacks: "
    with pytest.raises(MissingRightsError, match=message):
        require_capabilities("a ring on ecs0", RAW_ETHERNET)


def test_an_environment_without_ros_is_reported_with_the_command_that_opens_it() -> None:
    found = workspace.ros({}, "")
    assert found.level is Level.MISSING
    assert "source env.sh" in found.remedy
    assert workspace.ros({"ROS_DISTRO": "jazzy"}, "").level is Level.OK


def test_packages_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    found = workspace.packages()
    assert found.level is Level.MISSING
    assert "humanoid_devices_erob" in found.found


def test_a_domain_that_does_not_exist_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "seven")
    found = workspace.domain()
    assert found.level is Level.MISSING
    assert "'seven'" in found.found


def test_a_robot_that_the_whole_network_can_command_is_a_warning() -> None:
    assert workspace.reach({}).level is Level.WARNING
    assert workspace.reach({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}).level is Level.OK


def test_fast_dds_is_tuned_and_found_good() -> None:
    for environment in ({}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}):
        found = workspace.middleware(environment, "rmw_fastrtps_cpp")
        assert found.level is Level.OK
        assert found.found.startswith("rmw_fastrtps_cpp, tuned")


@pytest.mark.parametrize(
    ("implementation", "environment", "why"),
    [
        ("rmw_cyclonedds_cpp", {}, "only Fast DDS is tuned"),
        ("rmw_fastrtps_cpp", {"FASTRTPS_DEFAULT_PROFILES_FILE": "x"}, "FASTRTPS_DEFAULT"),
        ("rmw_fastrtps_cpp", {"FASTDDS_DEFAULT_PROFILES_FILE": "x"}, "FASTDDS_DEFAULT"),
        (
            "rmw_fastrtps_cpp",
            {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_STATIC_PEERS": "10.0.0.2"},
            "ROS_STATIC_PEERS",
        ),
        (
            "rmw_fastrtps_cpp",
            {"ROS_LOCALHOST_ONLY": "1", "ROS_STATIC_PEERS": "10.0.0.2"},
            "ROS_STATIC_PEERS",
        ),
    ],
)
def test_a_middleware_that_is_not_tuned_is_named_with_what_it_lacks(
    implementation: str, environment: dict[str, str], why: str
) -> None:
    found = workspace.middleware(environment, implementation)
    assert found.level is Level.WARNING
    assert found.found.startswith(f"{implementation}, not tuned ({why}")
    assert "blocking sends" in found.found
    assert "RMW_IMPLEMENTATION=rmw_fastrtps_cpp" in found.remedy


def test_the_middleware_in_use_is_named() -> None:
    assert workspace.loaded_middleware() == (get_rmw_implementation_identifier(), "")


@pytest.mark.parametrize("cause", ["no rclpy", "no such middleware"])
def test_the_doctor_names_why_ros_cannot_be_loaded(hc_anew, tmp_path: Path, cause: str) -> None:
    changes = {"RMW_IMPLEMENTATION": "rmw_nowhere"}
    expected = "rmw_nowhere"
    if cause == "no rclpy":
        (tmp_path / "rclpy.py").write_text(
            "raise ImportError('no such library\\n\\nA paragraph.')\n"
        )
        paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        changes = {"PYTHONPATH": os.pathsep.join(paths)}
        expected = "ImportError: no such library"
    run = hc_anew("doctor", **changes)
    assert run.finish() == 1
    assert "Traceback" not in run.text
    assert re.search(r"^ *ROS 2 +missing +rclpy cannot be loaded", run.text, re.MULTILINE)
    assert expected in " ".join(run.text.split())


@pytest.mark.parametrize("has_enclave", [False, True])
def test_an_environment_in_which_ros_does_not_start_is_broken(
    hc_anew, tmp_path: Path, has_enclave: bool
) -> None:
    """Without an enclave rcl refuses to start, with one that has no keys the node."""
    if has_enclave:
        (tmp_path / "enclaves/robot").mkdir(parents=True)
    secured = {
        "ROS_SECURITY_ENABLE": "true",
        "ROS_SECURITY_STRATEGY": "Enforce",
        "ROS_SECURITY_KEYSTORE": str(tmp_path),
        "ROS_SECURITY_ENCLAVE_OVERRIDE": "/robot",
    }
    run = hc_anew("doctor", **secured)
    assert run.finish() == 1
    assert re.search(r"^ *ROS 2 start +broken ", run.text, re.MULTILINE), run.text
    assert "Traceback" not in run.text
    run = hc_anew("mode", **secured)
    assert run.finish() == 1
    assert run.lines[-1].startswith("hc: ROS does not start: ")
    assert "Traceback" not in run.text


def test_remedies_are_shown_in_whole_lines_below_the_table() -> None:
    remedy = "`sudo " + "word " * 40 + "`"
    console = Console(width=80, markup=False, highlight=False)
    with console.capture() as capture:
        show([ok("a", "[fine]"), warning("b", "so so", remedy), missing("c", "no", "x")], console)
    lines = capture.get().splitlines()
    assert f"  {remedy}" in lines
    assert any(line.split() == ["a", "ok", "[fine]"] for line in lines)
    assert lines[-1] == "1 missing, 1 to improve"


def test_the_doctor_fails_for_a_missing_interface_only_if_one_was_named(hc_anew) -> None:
    run = hc_anew("doctor", "--interface", "no_such_if")
    assert run.finish() == 1
    assert "interface no_such_if" in run.text
    assert "Traceback" not in run.text
    whole = hc_anew("doctor")
    assert whole.finish() == 0, whole.text
    for subject in ("kernel", "real-time scheduling", "ROS 2", "pysoem", "raw Ethernet"):
        assert subject in whole.text
