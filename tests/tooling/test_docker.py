"""The containers: fewest rights, and an entrypoint that gives them to a user without root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from humanoid_control_common.ending_times import EVERYTHING

ROOT = Path(__file__).resolve().parents[2]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]
DOCKERFILE = (ROOT / "docker/Dockerfile").read_text()
PAGE = (ROOT / "docs/docker.md").read_text()
ROBOTS = ("sim", "twin", "real", "real-slcan")
BECOME_A_USER = {"SETUID", "SETGID"}
RAW_FRAMES = {"NET_RAW", "NET_ADMIN"}
USER = "nobody"


@pytest.mark.parametrize("service", ROBOTS)
def test_a_robot_has_only_the_capabilities_it_needs(service: str) -> None:
    wanted = BECOME_A_USER if service == "sim" else BECOME_A_USER | RAW_FRAMES
    assert SERVICES[service]["cap_drop"] == ["ALL"]
    assert set(SERVICES[service]["cap_add"]) == wanted
    assert SERVICES[service]["security_opt"] == ["no-new-privileges:true"]
    assert not SERVICES[service].get("privileged")


@pytest.mark.parametrize("service", ["twin", "real", "real-slcan"])
def test_a_robot_on_its_buses_may_be_on_time(service: str) -> None:
    assert SERVICES[service]["ulimits"] == {"rtprio": 98, "memlock": -1}


def test_the_virtual_robot_has_a_network_of_its_own_and_the_real_one_the_hosts() -> None:
    assert "network_mode" not in SERVICES["twin"]
    assert SERVICES["twin"]["ports"] == ["127.0.0.1:8080:8080"]
    assert SERVICES["real"]["network_mode"] == "host"


@pytest.mark.parametrize("service", ROBOTS)
def test_a_robot_is_stopped_in_order(service: str) -> None:
    assert SERVICES[service]["stop_signal"] == "SIGINT"
    grace = SERVICES[service]["stop_grace_period"].removesuffix("s")
    assert float(grace) >= EVERYTHING
    assert f"`docker compose stop` sends SIGINT and waits {grace} s" in PAGE


def test_the_tests_may_make_network_namespaces() -> None:
    assert "SYS_ADMIN" in SERVICES["test"]["cap_add"]
    assert SERVICES["test"]["security_opt"] == ["apparmor:unconfined"]
    workflow = yaml.safe_load((ROOT / ".github/workflows/workspace.yml").read_text())
    options = workflow["jobs"]["check"]["container"]["options"]
    assert "--cap-add SYS_ADMIN" in options
    assert "--security-opt apparmor=unconfined" in options


def test_every_target_that_is_built_is_a_stage() -> None:
    stages = set(re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, flags=re.MULTILINE))
    assert stages == {"manifests", "base", "development", "build", "test", "runtime"}
    assert {service["build"]["target"] for service in SERVICES.values()} <= stages


def test_only_the_argument_names_a_ros_distribution() -> None:
    lines = [line for line in DOCKERFILE.splitlines() if not line.startswith("#")]
    assert [line for line in lines if "jazzy" in line] == ["ARG ROS_DISTRO=jazzy"]
    images = [service.get("image", "") for service in SERVICES.values()]
    assert [image for image in images if image and "${ROS_DISTRO:-jazzy}" not in image] == []


@pytest.fixture
def opened(tmp_path: Path) -> dict[str, str]:
    """The environment of a container, with a ROS 2 and a workspace that only set a variable."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user")
    (tmp_path / "ros.bash").write_text("export LD_LIBRARY_PATH=/ros/lib\n")
    (tmp_path / "install").mkdir()
    (tmp_path / "install/local_setup.bash").touch()
    (tmp_path / "env.sh").write_text("export OPENED=workspace\n")
    return {
        "PATH": os.environ["PATH"],
        "ROS_SETUP": str(tmp_path / "ros.bash"),
        "WORKSPACE": str(tmp_path),
        "RUN_AS": USER,
        "ROS_DOMAIN_ID": "42",
    }


def in_container(
    environment: dict[str, str], capabilities: set[str], *command: str
) -> subprocess.CompletedProcess[str]:
    """Return the output of the entrypoint for `command`, as root with `capabilities` only."""
    names = ",".join(["-all", *(f"+{name.lower()}" for name in sorted(capabilities))])
    bounds = ["setpriv", f"--bounding-set={names}", "--inh-caps=-all"]
    words = [*bounds, "bash", str(ROOT / "docker/entrypoint.sh"), *command]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


def test_the_command_runs_as_the_user_with_ros_and_the_workspace_open(
    opened: dict[str, str],
) -> None:
    script = 'echo "$(id -un) $USER $OPENED $LD_LIBRARY_PATH $ROS_DOMAIN_ID"'
    result = in_container(opened, BECOME_A_USER, "bash", "-c", script)
    assert result.stdout == f"{USER} {USER} workspace /ros/lib 42\n", result.stderr


@pytest.mark.parametrize(
    "given", [set(), {"NET_RAW"}, RAW_FRAMES], ids=lambda given: str(len(given))
)
def test_the_user_gets_the_capabilities_of_the_container_and_no_other(
    opened: dict[str, str], given: set[str]
) -> None:
    result = in_container(opened, BECOME_A_USER | given, "cat", "/proc/self/status")
    status = dict(re.findall(r"^(Cap\w+):\s+(\w+)$", result.stdout, flags=re.MULTILINE))
    number = {"NET_ADMIN": 12, "NET_RAW": 13}  # linux/capability.h
    expected = sum(1 << number[name] for name in given)
    assert int(status["CapEff"], 16) == expected, result.stderr
    assert int(status["CapAmb"], 16) == expected


def test_the_loader_still_looks_at_the_library_path(opened: dict[str, str]) -> None:
    command = ("od", "-A", "n", "-v", "-w16", "-t", "u8", "/proc/self/auxv")
    result = in_container(opened, BECOME_A_USER | RAW_FRAMES, *command)
    auxiliary = dict(line.split() for line in result.stdout.splitlines())
    assert auxiliary["23"] == "0", f"AT_SECURE (getauxval(3)) is set: {result.stderr}"


def test_the_exit_code_is_that_of_the_command(opened: dict[str, str]) -> None:
    assert in_container(opened, BECOME_A_USER, "bash", "-c", "exit 7").returncode == 7


def test_a_workspace_that_is_not_built_yet_can_be_entered(
    opened: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "install/local_setup.bash").unlink()
    result = in_container(opened, BECOME_A_USER, "bash", "-c", 'echo "${OPENED:-not built}"')
    assert result.stdout == "not built\n", result.stderr


def test_root_stays_root_where_that_is_requested(opened: dict[str, str]) -> None:
    result = in_container(opened | {"RUN_AS": "root"}, BECOME_A_USER, "id", "-u")
    assert result.stdout == "0\n", result.stderr
