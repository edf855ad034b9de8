"""The black box beside a robot on mock hardware, and the report of `hc blackbox`."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from humanoid_control_msgs.msg import ControlMode
from rclpy.serialization import deserialize_message
from rich.console import Console
from test_support.ros.ros_domains import reserved_domain

from humanoid_control_cli.black_box import files
from humanoid_control_cli.black_box.files import Listing, Row
from humanoid_control_cli.black_box.view import listed
from humanoid_control_common.memory_file import FOLDER
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.fault_report import (
    FaultReport,
    read_fault_report,
    read_reasons,
)
from humanoid_recording.black_box.messages import log_line
from humanoid_recording.black_box.origin import Origin, read_origin
from humanoid_recording.black_box.store import Store
from humanoid_recording.definitions import definition
from humanoid_recording.reader import BagReader
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

LOG = "rcl_interfaces/msg/Log"


@pytest.fixture(scope="module")
def flown(start_once: Starter, quick_controllers: Path) -> SimpleNamespace:
    """A robot in STANDBY: a file is requested, then a stop; then its control process is killed.

    The three files, oldest first, and the output.
    """
    up = start_once.hc("up", "mock", "--no-viewer", "--controllers", str(quick_controllers))
    up.wait_for("Prime is up")
    outputs = {}
    for name, arguments in {
        "damp": ["mode", "damp"],
        "load": ["mode", "load", "--wait"],
        "save": ["blackbox", "save"],
        "stop": ["stop"],
    }.items():
        code, outputs[name] = start_once.ask(*arguments)
        assert code == 0, outputs[name]
    store = Store(Path(start_once.environment["ROS_HOME"]) / "black_box")
    up.wait_for_match(r"\[black_box\]: saved \S+: emergency stop")
    control = up.descendant("humanoid_controllers/control")
    os.kill(control, signal.SIGKILL)
    assert up.finish() == 128 + signal.SIGKILL
    # There may be others: of a robot killed there before, of a machine that was held up.
    reasons = {
        file: " ".join(it.text for it in read_fault_report(file).reasons) for file in store.files()
    }
    wanted = ("on request", "emergency stop", f"(pid {control}) was killed")
    files = [file for part in wanted for file in reasons if part in reasons[file]]
    assert len(files) == 3, f"{reasons} in:\n{up.text}"
    return SimpleNamespace(
        files=files,
        all=list(reasons),
        outputs=outputs,
        control=control,
        start=start_once,
        domain=int(start_once.environment["ROS_DOMAIN_ID"]),
    )


def modes_in(bag: Path) -> list[Mode]:
    """The modes in the order in which they were stated."""
    messages = [m for m in BagReader(bag) if m.channel.topic == "/control_mode"]
    stated = [Mode(deserialize_message(m.data, ControlMode).mode) for m in messages]
    return list(dict.fromkeys(stated))


def texts(story: FaultReport) -> list[str]:
    return [event.text for event in story.events]


def test_a_file_that_was_requested_is_named(flown: SimpleNamespace) -> None:
    assert str(flown.files[0]) in flown.outputs["save"]


def test_the_moment_of_the_fault_is_in_its_file(flown: SimpleNamespace) -> None:
    story = read_fault_report(flown.files[1])
    assert modes_in(flown.files[1]) == [Mode.ZERO_TORQUE, Mode.DAMPING, Mode.STANDBY]
    assert story.before > 0.3  # [s]: the way into STANDBY at least
    assert story.after >= 2.0
    stops = [event for event in story.events if "emergency stop" in event.text and event.alarm]
    assert stops[0].time == pytest.approx(0.0, abs=1e-6)
    (down,) = (m for m in story.events if m.text.startswith("switch: DAMPING") and m.time > 0.0)
    assert down.time < story.after


def test_requests_and_their_sources_are_in_the_file(flown: SimpleNamespace) -> None:
    found = texts(read_fault_report(flown.files[0]))
    assert "request: DAMP: switching to DAMPING" in found
    assert "request: LOAD: switching to STANDBY" in found
    assert any(text.startswith("switch: STANDBY (standby_controller") for text in found)


def test_every_joint_is_in_every_tick(flown: SimpleNamespace) -> None:
    topics = [message.channel.topic for message in BagReader(flown.files[2])]
    assert topics.count("/prime/joint_states") == topics.count("/prime/joint_commands") > 50
    assert "/diagnostics" in topics, "what others say is kept beside it"


def test_the_files_are_listed_and_reported(flown: SimpleNamespace) -> None:
    listed = flown.start.hc_anew("blackbox", "list")
    assert listed.finish() == 0, listed.text
    names = [match for line in listed.lines for match in re.findall(r"^black_box_\S+", line)]
    assert names == [file.name for file in flown.all]
    shown = flown.start.hc("blackbox", "show", flown.files[1].name)
    assert shown.finish() == 0, shown.text
    assert re.search(r"\+0\.00 s  fall: emergency stop", shown.text), shown.text
    assert "joints in the second before" in shown.text
    assert max(map(len, shown.lines)) <= 80
    latest = flown.start.hc("blackbox", "show")
    assert latest.finish() == 0
    assert latest.lines[0] == flown.all[0].name


def test_files_name_their_robot(flown: SimpleNamespace) -> None:
    for file in flown.files:
        assert read_origin(file) == Origin(flown.domain, "mock")
    assert f"(ROS domain {flown.domain}, backend mock)" in flown.outputs["save"]


def test_a_robot_that_is_gone_leaves_nothing_in_memory(flown: SimpleNamespace) -> None:
    assert list(FOLDER.glob(f"*_{flown.control}.flight")) == []


@pytest.fixture
def black_box(hc_here: Callable[..., Any]) -> Callable[..., tuple[int, list[str]]]:
    """Runs `hc blackbox` in a ROS domain."""

    def run(*words: object, domain: int | None = None) -> tuple[int, list[str]]:
        with reserved_domain() if domain is None else nullcontext(domain) as chosen:
            code, lines = hc_here("blackbox", *words, ROS_DOMAIN_ID=str(chosen))
        return code, lines

    return run


def test_hc_blackbox_reports_missing_files_and_a_missing_black_box(
    black_box: Callable[..., tuple[int, list[str]]], tmp_path: Path
) -> None:
    for arguments, sentence in (
        (["list", "--folder", tmp_path], f"hc: {tmp_path}: no files of a black box there"),
        (["show", "x", "--folder", tmp_path], "hc: x: no such file, here or in"),
        (["save", "--timeout", "0.2"], "hc: no black box answers on ROS_DOMAIN_ID"),
    ):
        code, (line,) = black_box(*arguments)
        assert code == 1
        assert line.startswith(sentence)


@pytest.fixture
def three_robots(tmp_path: Path) -> Path:
    """Files of domains 3 and 4, and an older one without the mark, which is the latest."""
    folder = tmp_path / "files"
    for second, (name, marks) in enumerate(
        {
            "of_3": {"ros_domain_id": "3", "backend": "real"},
            "of_4": {"ros_domain_id": "4", "backend": "mujoco"},
            "older": {},
        }.items()
    ):
        bag = folder / f"black_box_{name}"
        with BagWriter(bag, custom_data=marks) as writer:
            writer.add_topic(Topic("/rosout", LOG, "", definition(LOG), []))
            writer.add("/rosout", log_line(10**18, "black_box", 40, Reason(f"why {name}")), 1, 1)
        os.utime(bag, (second + 1, second + 1))
    return folder


def test_the_files_of_the_own_domain_are_taken_and_all_of_them_on_request(
    black_box: Callable[..., tuple[int, list[str]]], three_robots: Path
) -> None:
    def lines(*words: str) -> list[str]:
        code, output = black_box(*words, "--folder", three_robots, domain=3)
        assert code == 0, output
        return output

    listed = lines("list")
    assert [line.split()[:3] for line in listed[1:2]] == [["black_box_of_3", "3", "real"]]
    assert listed[2:] == ["2 more are of other ROS domains, or without a mark: --all"]
    everything = lines("list", "--all")
    assert [line.split()[:3] for line in everything[1:]] == [
        ["black_box_older", "–", "–"],
        ["black_box_of_4", "4", "mujoco"],
        ["black_box_of_3", "3", "real"],
    ]
    assert lines("show")[:2] == ["black_box_of_3", "ROS domain 3, backend real"]
    assert lines("show", "--all")[:2] == ["black_box_older", "ROS domain –, backend –"]
    assert lines("show", "black_box_of_4")[:2] == [
        "black_box_of_4",
        "ROS domain 4, backend mujoco",
    ]


def test_list_shortens_a_long_reason() -> None:
    reason = Reason("PrimeEtherCATSide reports FAULT: " + ", ".join(["left_elbow_pitch"] * 10))
    row = Row("black_box_of_3", 1, (reason,), 0.0, Origin(3, "real"))
    output = StringIO()
    Console(width=80, file=output).print(listed(Listing((row,), 0)))
    assert " ".join(output.getvalue().split()).endswith(
        "PrimeEtherCATSide reports FAULT: left_elbow_pitch, …"
    )


def test_a_file_that_cannot_be_read_does_not_hide_the_others(
    black_box: Callable[..., tuple[int, list[str]]], three_robots: Path
) -> None:
    (three_robots / "black_box_of_4/black_box_of_4_0.mcap").write_text("")
    code, listed = black_box("list", "--all", "--folder", three_robots, domain=3)
    assert code == 0, listed
    assert [line.split()[0] for line in listed if line.startswith("black_box_")] == [
        "black_box_older",
        "black_box_of_4",
        "black_box_of_3",
    ]
    assert "cannot be read" in " ".join(listed)


def test_a_file_that_a_black_box_removes_meanwhile_does_not_hide_the_others(
    three_robots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove_first(path: Path) -> Any:
        if path.name == "black_box_of_4":
            shutil.rmtree(path)
        return read_reasons(path)

    monkeypatch.setattr(files, "read_reasons", remove_first)
    names = [row.name for row in files.list_rows(three_robots, every=True).rows]
    assert names == ["black_box_older", "black_box_of_3"]


@pytest.mark.parametrize("command", ["list", "show"])
def test_a_domain_without_files_shows_the_number_of_others(
    black_box: Callable[..., tuple[int, list[str]]], three_robots: Path, command: str
) -> None:
    code, (line,) = black_box(command, "--folder", three_robots, domain=5)
    assert code == 1
    assert line.startswith(
        f"hc: {three_robots}: no files of ROS domain 5 there; 3 are of other ROS domains, "
        "or without a mark: --all"
    )
