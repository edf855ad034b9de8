"""A CAN bus that runs alone, as a process."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import can
import pytest

from humanoid_devices_robstride.codec import CommunicationType
from humanoid_devices_robstride.codec import identifier as robstride_identifier
from humanoid_twin.can.control import CanControl
from humanoid_twin.can.main import main
from humanoid_twin.errors import TwinError

COMMAND = [sys.executable, "-m", "humanoid_twin.can.main"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[CanControl, subprocess.Popen[str]]]]:
    """Function that starts a bus: its control channel and its process."""
    running = []

    def started(*options: str) -> tuple[CanControl, subprocess.Popen[str]]:
        words = [str(tmp_path / "can"), "--control", str(tmp_path / "control"), *options]
        process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        running.append(process)
        line = process.stdout.readline()
        assert line.startswith("can: "), process.stderr.read()
        assert line.endswith(f" motors at {tmp_path / 'can'}\n")
        return CanControl(tmp_path / "control"), process

    yield started
    for process in running:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_bus_ends_on_request_and_leaves_no_line(start, tmp_path, number):
    control, process = start()
    assert list(control.can_drives()) == [22, 23, 38, 39]
    assert (tmp_path / "can").is_symlink()
    process.send_signal(number)
    assert process.wait(20) == 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TwinError, match="is gone"):
        control.time()
    control.close()


def test_a_client_finds_a_motor_by_its_id(start, tmp_path):
    control, _ = start("--family", "robstride", "--ids", "0x7,9", "--model", "rs-03")
    line = {"channel": str(tmp_path / "can"), "bitrate": 10**6, "sleep_after_open": 0.0}
    with control, can.Bus(interface="slcan", **line) as bus:
        asked = robstride_identifier(CommunicationType.ENABLE, 0xFD, 7)
        bus.send(can.Message(arbitration_id=asked, data=bytes(8)))
        answer = bus.recv(10.0)
        assert answer is not None
        assert answer.arbitration_id >> 24 == CommunicationType.STATUS
        assert answer.arbitration_id >> 8 & 0xFF == 7
        assert [report["model"] for report in control.can_drives().values()] == ["rs-03"] * 2
        assert control.can_statistics()["frames"] >= 2


def test_each_command_reaches_the_bus(start):
    """With the client's names of arguments, which tests of the commands do not use."""
    control, _ = start("--clock", "stepped")
    with control:
        control.can_delay_enable(22, 1.0)
        control.can_freeze(22)
        control.can_freeze(22, frozen=False)
        control.can_overheat(22, 90.0)
        control.can_drop(0.5, seed=3)
        control.can_corrupt_next(1)
        control.can_bitrate(500_000)
        control.can_change_id(39, 40)
        control.can_duplicate(23)
        control.can_foreign(50, "robstride", "rs-00")
        control.can_stray(0x123, b"\x01\x02", extended=False)
        control.can_power_off(22)
        control.can_power_off()
        control.can_power_on()
        control.can_motor_fault(38, 1)
        control.can_flags(False)
        control.can_unplug()
        control.can_plug_in()
        control.can_bus_off()
        drives = control.can_drives()
        assert list(drives) == [22, 23, 38, 40, 50]
        assert drives[22]["temperature"] == 90.0
        assert control.advance(0.5) == 0.5
        assert control.can_statistics()["time"] == 0.5


def test_an_adapter_without_flags_answers_with_a_bell(start, tmp_path):
    control, _ = start("--without-flags")
    control.close()
    line = os.open(tmp_path / "can", os.O_RDWR | os.O_NOCTTY)
    os.write(line, b"S8\rO\rF\r")
    answer = b""
    while len(answer) < 3:
        answer += os.read(line, 100)
    os.close(line)
    assert answer == b"\r\r\a"


WRONG_WORDS = {
    ("--ids", "22,22"): "names a motor twice",
    ("--ids", "a"): "expected numbers like 22,23",
    ("--family", "abb"): "invalid choice: 'abb'",
}


@pytest.mark.parametrize("words", WRONG_WORDS, ids=" ".join)
def test_arguments_without_a_meaning_are_refused(tmp_path, capsys, words):
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "can"), *words])
    assert ended.value.code == 2
    assert WRONG_WORDS[words] in capsys.readouterr().err


WRONG_MOTORS = {
    ("--ids", "0"): "CAN id 0, expected 1 to 255",
    ("--model", "TA99"): "sito has no model 'TA99', there are TA40-50, TA40-100",
}


@pytest.mark.parametrize("words", WRONG_MOTORS, ids=" ".join)
def test_motors_that_there_are_not_are_refused(tmp_path, caplog, words):
    assert main([str(tmp_path / "can"), *words]) == 1
    assert caplog.messages == [WRONG_MOTORS[words]]
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_not_touched(tmp_path, caplog):
    (tmp_path / "can").write_text("mine")
    assert main([str(tmp_path / "can")]) == 1
    assert "exists and is no link" in caplog.text
    assert (tmp_path / "can").read_text() == "mine"
