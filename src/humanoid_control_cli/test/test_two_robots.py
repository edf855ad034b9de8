"""Two robots on mock hardware in one ROS domain, each in its own namespace."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from test_support.operator import Operator, Participant

from humanoid_control_cli.domain import NAMESPACE
from humanoid_control_common.memory_file import FOLDER
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.tick_records.record_file import attach
from humanoid_recording.black_box.origin import read_origin
from humanoid_recording.black_box.store import Store
from humanoid_recording.reader import BagReader

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = "30"  # [s]; a dead-man's switch


@pytest.fixture(scope="module")
def pair(start_once: Starter, quick_controllers: Path) -> SimpleNamespace:
    """Two robots, both up: one by the option of `hc up`, one by that of `hc`."""
    options = ("mock", "--no-viewer", "--controllers", str(quick_controllers))
    left = start_once.hc("up", *options, "--namespace", "/left")
    right = start_once.hc("--namespace", "right", "up", *options)
    for robot in (left, right):
        robot.wait_for("Prime is up")
    return SimpleNamespace(left=left, right=right, start=start_once)


def output_of(pair: SimpleNamespace, name: str, *arguments: str) -> str:
    run = pair.start.hc("--namespace", name, *arguments, "--timeout", TIMEOUT)
    assert run.finish() == 0, run.text
    return str(run.text)


def test_output_of_each_robot_has_its_namespace(pair: SimpleNamespace) -> None:
    assert "ROS_DOMAIN_ID" in pair.left.lines[0] and "namespace /left" in pair.left.lines[0]
    assert "[left.controller_manager]" in pair.left.text
    assert "[right.controller_manager]" in pair.right.text


def test_each_robot_obeys_requests_in_its_own_namespace_only(
    pair: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in pair.start.environment.items():
        monkeypatch.setenv(name, value)
    with (
        Operator(Participant("/left")) as left,
        Operator(Participant("/right")) as right,
        Operator(Participant()) as root,
    ):
        left.connect()
        right.connect()
        number = right.now.switch_number
        left.reach(Mode.DAMPING)
        root.request_unseen(Mode.DAMPING)  # in the root, where no robot is
        right.next_statements(10)
        assert {it.switch_number for it in right.statements} == {number}
        assert {it.mode for it in right.statements} == {Mode.ZERO_TORQUE}
        right.reach(Mode.DAMPING)
        assert not root.statements and not root.joint_states
        assert left.joint_states[-1].header.frame_id == "left/base_link"
        assert right.joint_states[-1].header.frame_id == "right/base_link"
        names = {topic for topic, _ in root.node.get_topic_names_and_types()}
    shared = {"/rosout", "/parameter_events"}
    own = {topic for topic in names - shared if topic.startswith(("/left/", "/right/"))}
    probed = {"/control_mode", "/prime/joint_states", "/standby_controller/state"}
    assert names - shared - probed == own, "every name of a robot follows its namespace"


@pytest.mark.parametrize("option", [("--namespace", "/left"), ()])
def test_hc_finds_the_robot_of_its_namespace(
    pair: SimpleNamespace, option: tuple[str, ...]
) -> None:
    environment = {} if option else {"HC_NAMESPACE": "/left"}
    for mode in ("damp", "load"):
        run = pair.start.hc(*option, "mode", mode, "--timeout", TIMEOUT, **environment)
        assert run.finish() == 0, run.text
    assert "STANDBY" in output_of(pair, "/left", "mode")
    assert "STANDBY" not in output_of(pair, "/right", "mode")
    assert "left_elbow_pitch" in output_of(pair, "/left", "status")
    assert "DAMPING" in output_of(pair, "/left", "mode", "damp")


@pytest.fixture
def hc_beside(
    pair: SimpleNamespace,
    hc_here: Callable[..., tuple[int, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, list[str]]]:
    """Runs `hc` in this process, in the domain of the two robots."""
    monkeypatch.setenv(NAMESPACE, "")  # and restores it afterwards
    return partial(hc_here, **pair.start.environment)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--namespace", "/nowhere", "mode", "--timeout", "1"), "namespace /nowhere within 1 s"),
        (
            ("mode", "--timeout", "2"),
            "within 2 s: robots run in /left, /right: choose one with `hc --namespace /left …`",
        ),
        (("clear-fault", "--timeout", "2"), "within 2 s: robots run in /left, /right: "),
        (("stop", "--timeout", "2"), "within 2 s; robots run in /left, /right: choose one with"),
        (("down", "--timeout", "2"), "within 2 s; robots run in /left, /right: choose one with"),
        (("up", "mock", "--namespace", "/left"), "namespace /left (pid "),
        (("up", "mock", "--namespace", "9"), "hc: namespace is '9'"),
        (("--namespace", "9", "mode"), "hc: namespace is '9'"),
    ],
    ids=[
        "no robot",
        "no robot in the root",
        "no service in the root",
        "nothing to stop in the root",
        "nothing to power down in the root",
        "taken",
        "bad robot",
        "bad client",
    ],
)
def test_a_wrong_namespace_is_reported(
    hc_beside: Callable, words: tuple[str, ...], message: str
) -> None:
    code, lines = hc_beside(*words)
    assert code == 1
    assert message in "\n".join(lines)


def test_a_recording_is_of_one_robot(pair: SimpleNamespace, tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    run = pair.start.hc("--namespace", "/right", "record", str(bag), "--seconds", "5")
    assert run.finish() == 0, run.text
    topics = {recorded.channel.topic for recorded in BagReader(bag)}
    assert {"/right/prime/joint_states", "/right/control_mode"} <= topics
    assert all(topic.startswith("/right/") for topic in topics)


def test_the_black_boxes_are_apart(pair: SimpleNamespace) -> None:
    home = Path(pair.start.environment["ROS_HOME"]) / "black_box"
    output = output_of(pair, "/left", "blackbox", "save")
    (file,) = Store(home / "left").files()
    assert str(file) in output
    assert Store(home).files() == Store(home / "right").files() == []
    assert read_origin(file).namespace == "/left"
    topics = {recorded.channel.topic for recorded in BagReader(file)}
    assert {"/left/prime/joint_states", "/left/control_mode", "/left/diagnostics"} <= topics
    assert all(topic == "/rosout" or topic.startswith("/left/") for topic in topics)
    shown = pair.start.hc("--namespace", "/left", "blackbox", "show")
    assert shown.finish() == 0 and "saved on request" in shown.text
    other = pair.start.hc("--namespace", "/right", "blackbox", "list")
    assert other.finish() == 1 and "black_box/right" in other.text


def test_hc_down_of_one_robot_leaves_the_other_robot_in_its_mode(pair: SimpleNamespace) -> None:
    before = output_of(pair, "/right", "mode")
    output = output_of(pair, "/left", "down")
    assert "all joints are without torque" in output
    assert pair.left.finish() == 0, pair.left.text
    assert output_of(pair, "/right", "mode") == before
    assert pair.right.process.poll() is None
    flights = [attach(path).facts.namespace for path in FOLDER.glob("*.right_*.flight")]
    assert set(flights) == {"/right"}
    pair.right.send(signal.SIGINT)
    assert pair.right.finish() == 0, pair.right.text
