"""A ROS callback that raises in the control process damps the joints; they keep their torque."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "src" / "humanoid_bringup_prime" / "config" / "prime_controllers.yaml"
RAISING = """
import time
from humanoid_controllers.standby import StandbyController
from std_msgs.msg import String

class Raising(StandbyController): pass

def listen(node, topic):
    def obey(message):
        print("obeyed", message.data, flush=True)
        if message.data == "exit":
            raise SystemExit(2)
        raise KeyError(message.data)
    node.create_subscription(String, topic, obey, 10)

def attach(host, controller):
    listen(host.node, "/order")
    def tick():
        if tick.raising:
            raise ZeroDivisionError("in every tick")
    tick.raising = False
    def start(message):
        tick.raising = True
    host.node.create_subscription(String, "/start", start, 10)
    host.node.create_timer(0.01, tick)
    def publish(snapshot):
        while publish.hanging:
            time.sleep(1.0)
    publish.hanging = False
    def hang(message):
        publish.hanging = True
    host.node.create_subscription(String, "/hang", hang, 10)
    return publish

def attach_hardware(host, component):
    listen(host.node, "/order_hardware")
"""
POINTS = """
[humanoid_control.controllers]
raising/Raising = raising:Raising
[humanoid_control.ros]
raising/Raising = raising:attach
mock_components/GenericSystem = raising:attach_hardware
"""


@pytest.fixture
def running(
    start_control_anew: Callable[..., Any],
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """A control process in STANDBY, whose plug-ins raise on request."""
    information = tmp_path / "plugin" / "raising-1.dist-info"
    information.mkdir(parents=True)
    (information.parent / "raising.py").write_text(RAISING)
    (information / "METADATA").write_text("Name: raising\nVersion: 1\n")
    (information / "entry_points.txt").write_text(POINTS)
    monkeypatch.setenv("PYTHONPATH", str(information.parent), prepend=os.pathsep)
    content = yaml.safe_load(SHIPPED.read_text())
    manager = content["controller_manager"]["ros__parameters"]
    manager["standby_controller"]["type"] = "raising/Raising"
    file = tmp_path / "controllers.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    process = start_control_anew(controllers_file=file)
    client.reports = []
    qos = QoSProfile(depth=32, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    client.listen(SafetyStatus, "/safety_status", client.reports.append, qos)
    client.connect()
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.STANDBY)
    return process


def _tell(client: Any, topic: str, order: str) -> None:
    publisher = client.node.create_publisher(String, topic, 10)
    client.until(publisher.get_subscription_count, f"a subscriber of {topic}")
    publisher.publish(String(data=order))


def _report(client: Any) -> SafetyStatus:
    found = [report for report in client.reports if report.source == "ros_callbacks"]
    return found[-1] if found else SafetyStatus()


def test_a_controller_whose_callback_raises_is_left_for_damping_and_its_topics_close(
    running: Any, client: Any
) -> None:
    """The stepped robot tests timers and other errors."""
    message = (
        "'listen.<locals>.obey' (topic /order) of node 'standby_controller' raised KeyError('q')"
    )
    _tell(client, "/order", "q")
    client.until(lambda: client.now.mode == ControlMode.DAMPING, "DAMPING")
    client.until(lambda: client.commands[-1].damping[0] == 6.0, "the damping of every joint")
    client.until(lambda: _report(client).level == SafetyStatus.FAULT, "a FAULT")
    assert message in _report(client).message
    assert message in client.now.status_message
    _tell(client, "/order", "again")
    client.request(ControlMode.STANDBY)
    assert client.now.mode == ControlMode.DAMPING
    assert client.call("/mode_manager/clear_fault", ClearFault).success
    client.until(lambda: _report(client).level == SafetyStatus.WARNING, "a WARNING")
    client.reach(ControlMode.STANDBY)
    running.end()
    assert running.process.returncode == 0
    text = running.text()
    assert text.count(message) >= 1
    assert "Traceback" in text
    assert "obeyed again" not in text


def test_a_callback_that_the_process_cannot_do_without_leads_down_in_order(
    running: Any, client: Any
) -> None:
    _tell(client, "/order_hardware", "q")
    assert running.wait() == 1
    text = running.text()
    assert "raised KeyError('q')" in text
    assert "powering down: DAMPING until the joints are slow, then no torque" in text
    assert text.count("obeyed") == 1
    assert "fell to damping_controller" in text


def test_a_listener_that_hangs_is_left_and_leads_down_in_order(running: Any, client: Any) -> None:
    _tell(client, "/hang", "")
    client.until(lambda: client.now.mode == ControlMode.DAMPING, "DAMPING")
    client.until(lambda: client.commands[-1].damping[0] == 6.0, "joint commands again")
    assert running.wait() == 1
    text = running.text()
    assert "'publish' of standby_controller has not returned for 1 s" in text
    assert "powering down: DAMPING until the joints are slow, then no torque" in text
