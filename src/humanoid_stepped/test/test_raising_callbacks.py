"""A ROS callback of a controller that raises damps the joints; they keep their torque."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from humanoid_control_msgs.msg import SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from std_msgs.msg import String
from test_support.stepped.prime import SOFT, STIFF, Prime

from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.plugins import forget_plugins
from humanoid_stepped.robot import CONTROL

RAISING = """
from humanoid_controllers.standby import StandbyController
from std_msgs.msg import String

class Raising(StandbyController): pass

def attach(host, controller):
    def obey(message):
        if message.data == "exit":
            raise SystemExit(2)
        raise KeyError(message.data)
    host.node.create_subscription(String, "/order", obey, 10)
    def tick():
        if tick.raising:
            raise ZeroDivisionError("in every tick")
    tick.raising = False
    def start(message):
        tick.raising = True
    host.node.create_subscription(String, "/start", start, 10)
    host.node.create_timer(0.01, tick)
"""
POINTS = """
[humanoid_control.controllers]
raising/Raising = raising:Raising
[humanoid_control.ros]
raising/Raising = raising:attach
"""


def controllers(folder: Path) -> Path:
    """Prime's controllers, with a STANDBY that raises on request."""
    content = yaml.safe_load(find_robot().controllers_file.read_text())
    manager = content["controller_manager"]["ros__parameters"]
    manager["standby_controller"]["type"] = "raising/Raising"
    file = folder / "controllers.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime in STANDBY."""
    folder = tmp_path_factory.mktemp("raising")
    information = folder / "plugin" / "raising-1.dist-info"
    information.mkdir(parents=True)
    (information.parent / "raising.py").write_text(RAISING)
    (information / "METADATA").write_text("Name: raising\nVersion: 1\n")
    (information / "entry_points.txt").write_text(POINTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(information.parent))
        forget_plugins()
        prime = Prime(folder, controllers_file=controllers(folder))
        prime.up()
    forget_plugins()
    prime.client.enter(Mode.DAMPING)
    prime.client.enter(Mode.STANDBY)
    return prime


def report(prime: Prime) -> SafetyStatus:
    """Return the latest report of the callbacks."""
    reports = prime.client.latched(SafetyStatus, "/safety_status", 4)
    return [it for it in reports if it.source == "ros_callbacks"][-1]


@pytest.mark.parametrize(
    ("topic", "order", "message"),
    [
        ("/order", "exit", "raised SystemExit(2)"),
        ("/start", "", "'attach.<locals>.tick' (timer) of node 'standby_controller' raised Zero"),
    ],
)
def test_a_controller_whose_callback_raises_is_left_for_damping_and_its_topics_close(
    standing: Prime, topic: str, order: str, message: str
) -> None:
    client = standing.client
    client.node.create_publisher(String, topic, 10).publish(String(data=order))
    client.until(lambda: client.now.mode == Mode.DAMPING, "DAMPING")
    assert message in client.now.status_message
    client.until(lambda: standing.registers() == [SOFT] * 10, "soft drives")
    client.until(lambda: report(standing).level == SafetyStatus.FAULT, "a FAULT")
    assert message in report(standing).message
    client.node.create_publisher(String, "/order", 10).publish(String(data="again"))
    client.request(Mode.STANDBY)
    assert client.now.mode == Mode.DAMPING
    assert client.call("/mode_manager/clear_fault", ClearFault).success
    client.until(lambda: report(standing).level == SafetyStatus.WARNING, "a WARNING")
    client.enter(Mode.STANDBY)
    assert standing.registers() == [STIFF] * 10
    assert "Traceback" in standing.text(CONTROL)
    assert "KeyError('again')" not in standing.text(CONTROL)
