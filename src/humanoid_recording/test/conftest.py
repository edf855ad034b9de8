"""Bags with all topics of a robot, without a robot."""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from humanoid_control_msgs.msg import (
    ControlMode,
    ImpedanceState,
    MITCommand,
    SafetyStatus,
    StandbyState,
)
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from humanoid_recording.definitions import definition, type_hash
from humanoid_recording.qos_profiles import plain_offers
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

START = 1_700_000_000_000_000_000  # [ns]
VOLATILE = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NAMES = ["left_elbow_pitch", "right_elbow_pitch"]
PAIR = [0.1, -0.2]

# Sequences of numbers are not empty: `serialize_message` then adds bytes that are not on the wire.
MESSAGES = {
    "/prime/joint_states": JointState(name=NAMES, position=PAIR, velocity=PAIR, effort=PAIR),
    "/prime/joint_commands": MITCommand(
        joint_names=NAMES, position=PAIR, velocity=PAIR, effort=PAIR, stiffness=PAIR, damping=PAIR
    ),
    "/control_mode": ControlMode(mode=2, controller_name="standby_controller", switch_number=3),
    "/safety_status": SafetyStatus(level=2, source="PrimeSitoCAN", message="bus off"),
    "/standby_controller/state": StandbyState(current_segment=1, total_segments=2, progress=0.5),
    "/erob_impedance_manager/state": ImpedanceState(
        joint_names=NAMES,
        position_gain=[1, 2],
        velocity_gain=[3, 4],
        velocity_integral=[5, 6],
        stiffness=PAIR,
        damping=PAIR,
    ),
    "/diagnostics": DiagnosticArray(
        status=[DiagnosticStatus(name="loop", values=[KeyValue(key="ticks", value="7")])]
    ),
    "/robot_description": String(data="<robot name='prime'/>"),
    "/clock": Clock(),
    "/twin/joint_states": JointState(name=NAMES, position=PAIR, velocity=PAIR, effort=PAIR),
}


def type_name(message: object) -> str:
    package, _, _ = type(message).__module__.partition(".")
    return f"{package}/msg/{type(message).__name__}"


def topic_of(name: str, message: object, *offers: QoSProfile) -> Topic:
    kind = type_name(message)
    return Topic(name, kind, type_hash(kind), definition(kind), plain_offers(offers or [VOLATILE]))


def write_bag(
    folder: Path,
    messages: Iterable[tuple[str, object]],
    *,
    step: int = 20_000_000,  # [ns] between messages
    free: Callable[[Path], int] = lambda _: 1 << 40,
) -> BagWriter:
    """`messages` of (topic, message), the first one at START."""
    latched = {"/safety_status", "/robot_description", "/standby_controller/state"}
    with BagWriter(folder, free) as bag:
        for i, (topic, message) in enumerate(messages):
            if topic not in bag.summary.topics:
                bag.add_topic(topic_of(topic, message, LATCHED if topic in latched else VOLATILE))
            time = START + i * step
            bag.add(topic, serialize_message(message), time, time - 1000)
            bag.flush()
    return bag


@pytest.fixture(scope="session")
def bags() -> SimpleNamespace:
    """Return the tools for bags: `messages` by topic, `start` [ns], `topic` and `write`."""
    return SimpleNamespace(messages=MESSAGES, start=START, topic=topic_of, write=write_bag)
