"""A session on mock hardware, recorded, and replayed to a subscriber."""

from __future__ import annotations

import itertools
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from humanoid_control_msgs.msg import ControlMode
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from test_support.browser import CHROMIUM, OperatorPage, chromium

from humanoid_control_cli.bag.replay import SHORTEST
from humanoid_control_cli.client import Client
from humanoid_control_common.rules.modes import Mode
from humanoid_recording.definitions import definition
from humanoid_recording.reader import BagReader
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Run, Starter

TIMEOUT = 30.0  # [s]; a dead-man's switch
STATES = "/prime/joint_states"
CHOSEN = ("/diagnostics", STATES)
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ROBOT_ELSEWHERE = """
import rclpy
rclpy.init()
node = rclpy.create_node("mode_manager")
print("there", flush=True)
rclpy.spin(node)
"""


def recorded(folder: Path) -> dict[str, list[object]]:
    """Return all messages by topic, read by the library `rosbags`."""
    found: dict[str, list[object]] = {}
    with AnyReader([folder]) as reader:
        for connection, _, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            found.setdefault(connection.topic, []).append(message)
    return found


def requests_in(found: dict[str, list[object]]) -> list[int]:
    """Requested modes; a request of a short-lived program may be missing, see docs/recording.md."""
    return [m.mode for m in found["/control_mode"] if not m.controller_name]


@dataclass(frozen=True)
class Recordings:
    """Bags by name, and a replay that was begun while the robot was up."""

    bags: dict[str, Path]
    beside: Run


@pytest.fixture(scope="module")
def bags(recordings: Recordings) -> dict[str, Path]:
    return recordings.bags


@pytest.fixture(scope="module")
def recordings(
    start_once: Starter, quick_controllers: Path, tmp_path_factory: pytest.TempPathFactory
) -> Recordings:
    """Recordings of a robot up to STANDBY: `whole`, by a `killed` recorder, of CHOSEN topics."""
    folder = tmp_path_factory.mktemp("bags")
    found = {name: folder / name for name in ("whole", "killed", "chosen")}
    up = start_once.hc("up", "mock", "--no-viewer", "--controllers", str(quick_controllers))
    chosen = {"chosen": [word for topic in CHOSEN for word in ("--topic", topic)]}
    recorders = {
        name: start_once.hc_anew("record", str(folder), *chosen.get(name, []))
        for name, folder in found.items()
    }
    up.wait_for("Prime is up")
    for recorder in recorders.values():
        recorder.wait_for(f"recording {STATES}")
    for arguments in (["mode", "damp"], ["mode", "load", "--wait"]):
        run = start_once.hc(*arguments, "--timeout", str(TIMEOUT))
        assert run.finish() == 0, run.text
    recorders["killed"].send(signal.SIGKILL)
    assert recorders["killed"].finish() == -signal.SIGKILL
    refused = start_once.hc("replay", str(found["killed"]))
    refused.finish()
    for name in ("whole", "chosen"):
        recorders[name].send(signal.SIGINT)
        assert recorders[name].finish() == 0, recorders[name].text
    assert re.search(r"whole: \d+ messages on \d+ topics in [\d.]+ s", recorders["whole"].text)
    up.send(signal.SIGTERM)
    assert up.finish() == 0, up.text
    return Recordings(found, refused)


@pytest.fixture
def client(start: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    for name, value in start.environment.items():
        monkeypatch.setenv(name, value)
    with Client(TIMEOUT) as client:
        yield client


def test_a_session_is_recorded_with_all_messages_of_the_robot(bags: dict[str, Path]) -> None:
    found = recorded(bags["whole"])
    assert {STATES, "/prime/joint_commands", "/control_mode", "/safety_status"} <= set(found)
    assert {"/standby_controller/state", "/diagnostics"} <= set(found)
    (description,) = found["/robot_description"]  # latched: published before the subscription
    assert "<ros2_control" in description.data
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in found[STATES]]
    assert stamps == sorted(stamps)
    assert len(found[STATES][0].name) == 14
    modes = [m.mode for m in found["/control_mode"] if m.controller_name]
    assert modes == sorted(modes)
    assert set(modes) == {Mode.ZERO_TORQUE, Mode.DAMPING, Mode.STANDBY}
    assert set(requests_in(found)) <= {Mode.DAMPING, Mode.STANDBY}


def test_recording_of_a_killed_recorder_is_readable(bags: dict[str, Path]) -> None:
    reader = BagReader(bags["killed"])
    assert len([message for message in reader if message.channel.topic == STATES]) > 0
    assert "was not finished" in reader.damage


def test_a_replay_publishes_statements_and_no_requests(bags, start, client: Client) -> None:
    heard: dict[str, list[object]] = {"states": [], "modes": [], "descriptions": []}
    client.subscribe(JointState, STATES, heard["states"].append, 1000)
    client.subscribe(ControlMode, "/control_mode", heard["modes"].append, 1000)
    run = start.hc("replay", str(bags["whole"]), "--rate", "3", "--stay")
    assert client.wait(lambda: "replayed" in run.text, TIMEOUT), run.text
    # Late subscribers still receive latched topics.
    client.subscribe(String, "/robot_description", heard["descriptions"].append, LATCHED)
    assert client.wait(lambda: heard["descriptions"], TIMEOUT)
    run.send(signal.SIGINT)
    assert run.finish() == 0, run.text
    bag = recorded(bags["whole"])
    if asked := len(requests_in(bag)):
        assert f"left out {asked} requests for a mode" in run.text
    assert heard["descriptions"][0].data == bag["/robot_description"][0].data
    assert all(message.controller_name for message in heard["modes"])
    assert heard["modes"][-1].mode == Mode.STANDBY
    stamps = [(message.header.stamp.sec, message.header.stamp.nanosec) for message in bag[STATES]]
    latest = [
        (message.header.stamp.sec, message.header.stamp.nanosec) for message in heard["states"]
    ]
    # Only messages before the discovery are lost.
    assert latest
    assert latest == stamps[-len(latest) :]
    assert list(heard["states"][-1].position) == list(bag[STATES][-1].position)


def test_replay_in_a_loop_begins_again_until_it_is_stopped(bags, start, client: Client) -> None:
    stamps: list[int] = []

    def note(message: JointState) -> None:
        stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)

    client.subscribe(JointState, STATES, note, 1000)
    run = start.hc_anew("replay", str(bags["killed"]), "--rate", "20", "--loop")
    begun_again = lambda: any(b < a for a, b in itertools.pairwise(stamps))  # noqa: E731
    assert client.wait(begun_again, TIMEOUT), run.text
    run.send(signal.SIGTERM)
    assert run.finish() == 0, run.text
    assert "was not finished: it was read to its last whole second" in run.text


def test_a_bag_of_one_message_does_not_flood_its_topic(start, client: Client, tmp_path) -> None:
    kind, topic = "std_msgs/msg/String", "/robot_description"
    with BagWriter(tmp_path / "one") as bag:
        bag.add_topic(Topic(topic, kind, "", definition(kind), []))
        bag.add(topic, serialize_message(String(data="robot")), 1, 1)
    heard: list[String] = []
    client.subscribe(String, topic, heard.append, 1000)
    begin = time.monotonic()
    run = start.hc("replay", str(tmp_path / "one"), "--loop")
    assert client.wait(lambda: len(heard) >= 3, TIMEOUT), run.text
    run.send(signal.SIGINT)
    assert run.finish() == 0, run.text
    turns = (time.monotonic() - begin) / SHORTEST
    published = re.search(r"replayed (\d+) messages", run.text)
    assert published is not None
    assert int(published[1]) <= 1 + turns


def test_no_robot_comes_up_where_something_is_replayed(bags, start) -> None:
    replay = start.hc("replay", str(bags["whole"]), "--loop", "--rate", "10")
    status = start.hc("status", "--timeout", str(TIMEOUT))
    assert status.finish() == 0, status.text
    up = start.hc("up", "mock", "--no-viewer")
    assert up.finish() == 1
    assert "is already running on ROS domain" in up.text
    replay.send(signal.SIGINT)
    assert replay.finish() == 0


def test_beside_a_robot_on_this_machine_nothing_is_replayed(recordings: Recordings) -> None:
    assert recordings.beside.finish() == 1
    (line,) = recordings.beside.lines
    assert line.startswith("hc: a control process is already running on ROS domain")


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_beside_a_robot_elsewhere_nothing_is_replayed(bags, start, when: str) -> None:
    def robot_elsewhere() -> None:
        start(sys.executable, "-c", ROBOT_ELSEWHERE).wait_for("there")

    if when == "before":
        robot_elsewhere()
    replay = start.hc("replay", str(bags["whole"]), "--loop")
    if when == "meanwhile":
        status = start.hc("status", "--timeout", str(TIMEOUT))
        assert status.finish() == 0, status.text  # it is under way
        robot_elsewhere()
    assert replay.finish() == 1
    assert re.search(r"hc: a robot is up on ROS_DOMAIN_ID \d+ \(node mode_manager", replay.text)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_viewer_shows_a_replay(bags, start) -> None:
    run = start.hc("replay", str(bags["whole"]), "--loop", "--viewer", "--port", "0")
    run.wait_for("viewer: http")
    url = re.search(r"viewer: (http://\S+)", run.text)[1]
    with chromium() as browser:
        tab = OperatorPage(browser, url)
        tab.shows_mode(Mode.STANDBY)
        tab.shows_mode(Mode.ZERO_TORQUE)  # the next turn
    run.send(signal.SIGINT)
    assert run.finish() == 0, run.text
    assert not run.descendants()


def test_no_message_is_an_error_and_leaves_nothing(start, tmp_path: Path) -> None:
    run = start.hc("record", str(tmp_path / "bag"), "--seconds", "0.3")
    assert run.finish() == 1
    domain = start.environment["ROS_DOMAIN_ID"]
    assert run.lines[-1].startswith(f"hc: no message on ROS_DOMAIN_ID {domain}")
    assert not (tmp_path / "bag").exists()


def test_topics_can_be_chosen(bags: dict[str, Path]) -> None:
    assert set(recorded(bags["chosen"])) == set(CHOSEN)


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        ("/a//b", "must not contain repeated '/'"),
        ("joint states", "must not contain characters other than"),
        ("", "must not end with a '/'"),
    ],
)
def test_a_topic_that_has_no_possible_name_is_refused(
    hc_here, tmp_path: Path, topic: str, reason: str
) -> None:
    code, lines = hc_here("record", tmp_path / "bag", "--topic", topic)
    assert code == 1
    assert reason in lines[-1]
    assert not (tmp_path / "bag").exists()
