"""The SROS2 policy agrees with docs/access.md; errors never lead to an unprotected run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from humanoid_bringup.options import Backend, Options, Process
from humanoid_bringup.plan import plan

ROOT = Path(__file__).parents[3]
POLICY = ROOT / "security/humanoid_control.policy.xml"
ROW = re.compile(
    r"^\| (?P<names>`/[^|]*) \| (?:native |loaded )?(?P<kind>topic|service) \|"
    r".*\| (?P<enclaves>[^|]+) \|$",
    re.M,
)
# Permissions of an enclave to send to the robot, and of a process to receive.
TELLS = {"topic": ("topics", "publish", "topic"), "service": ("services", "request", "service")}
HEARS = {"topic": ("topics", "subscribe", "topic"), "service": ("services", "reply", "service")}
# Files that a middleware with security reads in an enclave.
FILES = (
    "identity_ca.cert.pem", "permissions_ca.cert.pem", "cert.pem", "key.pem", "governance.p7s",
    "permissions.p7s",
)  # fmt: skip
GIVE_UP = 60.0  # [s] dead-man's switch


def rows() -> list[tuple[str, str, set[str]]]:
    """Return name, kind and enclaves of each input on the page."""
    page = (ROOT / "docs/access.md").read_text(encoding="utf-8")
    return [
        (name, row["kind"], {it.strip() for it in row["enclaves"].split(",")})
        for row in ROW.finditer(page)
        for name in re.findall(r"`(/[^`]+)`", row["names"])
    ]


def allowed(enclave: ElementTree.Element, way: tuple[str, str, str]) -> set[str]:
    """Return the expressions that the profiles of an enclave allow."""
    group, attribute, item = way
    return {
        str(entry.text)
        for found in enclave.iter(group)
        if found.get(attribute) == "ALLOW"
        for entry in found.iter(item)
    }


ENCLAVES = {
    str(enclave.get("path")).rpartition("/")[2]: enclave
    for enclave in ElementTree.parse(POLICY).iter("enclave")
}


@pytest.mark.parametrize("enclave", sorted(ENCLAVES))
@pytest.mark.parametrize("kind", ["topic", "service"])
def test_an_enclave_may_send_what_the_page_lists_and_nothing_else(enclave: str, kind: str) -> None:
    expressions = allowed(ENCLAVES[enclave], TELLS[kind])
    listed = {name: enclaves for name, found, enclaves in rows() if found == kind}
    assert len(listed) > 5
    may = {name for name in listed if any(fnmatch(name, text) for text in expressions)}
    assert may == {name for name, enclaves in listed.items() if enclave in enclaves}


@pytest.mark.parametrize("kind", ["topic", "service"])
def test_the_robot_may_receive_all_that_it_subscribes_to(kind: str) -> None:
    expressions = allowed(ENCLAVES["robot"], HEARS[kind])
    names = [name for name, found, _ in rows() if found == kind]
    assert [n for n in names if not any(fnmatch(n, text) for text in expressions)] == []


def test_only_the_robot_states_positions_and_writes_drives_in_everyday_use() -> None:
    for enclave in ("operator", "policy"):
        tells = allowed(ENCLAVES[enclave], TELLS["topic"])
        assert not tells & {"/prime/joint_states", "/safety_status", "/robot_description"}
        assert not any("erob" in text for text in allowed(ENCLAVES[enclave], TELLS["service"]))
    everything = {text for e in ENCLAVES.values() for text in allowed(e, TELLS["topic"])}
    assert "*" not in everything


def test_the_policy_of_a_robot_in_a_namespace_has_its_names() -> None:
    page = (ROOT / "docs/access.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    (sed .* security/\S+) > left.policy.xml$", page, re.M)
    made = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE
    )
    shared = {"/rosout", "/parameter_events", "/tf", "/tf_static"}
    names = ElementTree.parse(POLICY).iter(), ElementTree.fromstring(made.stdout).iter()
    for entry, ours in zip(*names, strict=True):
        if entry.tag in ("topic", "service") and entry.text not in shared:
            assert ours.text == f"/left{entry.text}"
        else:
            assert (ours.tag, ours.text, ours.attrib) == (entry.tag, entry.text, entry.attrib)


def test_a_robot_that_is_to_be_protected_does_not_start_unprotected(
    domain: int,
    monkeypatch: pytest.MonkeyPatch,
    running_type: type[Any],
    command_line: Callable[[Process], list[str]],
    tmp_path: Path,
) -> None:
    """Invalid keys: a middleware with security refuses them, one without refuses any keys."""
    enclave = tmp_path / "keys/enclaves/humanoid_control/robot"
    enclave.mkdir(parents=True)
    for name in FILES:
        (enclave / name).write_text("no key")
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(tmp_path / "keys"))
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    monkeypatch.setenv("ROS_SECURITY_ENCLAVE_OVERRIDE", "/humanoid_control/robot")
    processes = plan(Options(backend=Backend.MOCK, viewer=False), tmp_path)
    (control,) = (process for process in processes if process.label == "control")
    running = running_type(command_line(control), tmp_path / "output.txt")
    try:
        assert running.wait() == 1
    finally:
        running.end()
    assert "without torque" not in running.text()
    assert re.search("security|participant|rmw handle", running.text(), re.IGNORECASE)


LISTEN = """
import sys, time, rclpy
from std_msgs.msg import Bool
rclpy.init()
node, heard = rclpy.create_node("listener"), []
node.create_subscription(Bool, "/emergency_stop", heard.append, 10)
deadline = time.monotonic() + float(sys.argv[1])
while not heard and time.monotonic() < deadline:
    rclpy.spin_once(node, timeout_sec=0.1)
print("heard" if heard else "silence")
"""
SPEAK = """
import time, rclpy
from std_msgs.msg import Bool
rclpy.init()
node = rclpy.create_node("speaker")
topic = node.create_publisher(Bool, "/emergency_stop", 10)
while True:
    topic.publish(Bool(data=True))
    time.sleep(0.1)
"""


def keystore(folder: Path) -> Path:
    """A keystore with the enclaves of the policy. Skips if it cannot be made or is not used."""
    program = shutil.which("ros2")
    asked = [program or "false", "security", "-h"]
    if subprocess.run(asked, check=False, capture_output=True).returncode:
        pytest.skip("`ros2 security` (sros2) is not installed, so there are no keys to try")
    keys = folder / "keys"
    made = [["create_keystore", str(keys)]]
    for enclave in ENCLAVES:
        name = f"/humanoid_control/{enclave}"
        made += [["create_enclave", str(keys), name]]
        made += [["create_permission", str(keys), name, str(POLICY)]]
    for words in made:
        subprocess.run([program, "security", *words], check=True, timeout=GIVE_UP)
    return keys


def test_an_unlisted_participant_gets_nothing(domain: int, tmp_path: Path) -> None:
    protected = os.environ | {
        "ROS_SECURITY_KEYSTORE": str(keystore(tmp_path)),
        "ROS_SECURITY_ENABLE": "true",
        "ROS_SECURITY_STRATEGY": "Enforce",
    }
    operator = protected | {"ROS_SECURITY_ENCLAVE_OVERRIDE": "/humanoid_control/operator"}
    robot = protected | {"ROS_SECURITY_ENCLAVE_OVERRIDE": "/humanoid_control/robot"}
    speaker = subprocess.Popen([sys.executable, "-c", SPEAK], env=operator)
    try:
        assert _hears(robot, 30.0), "the robot receives no message of an operator with keys"
        assert not _hears(dict(os.environ), 5.0), (
            "a node without keys received an operator's message"
        )
    finally:
        speaker.kill()
        speaker.wait()


def _hears(environment: dict[str, str], seconds: float) -> bool:
    run = subprocess.run(
        [sys.executable, "-c", LISTEN, str(seconds)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=GIVE_UP + seconds,
    )
    return "heard" in run.stdout
