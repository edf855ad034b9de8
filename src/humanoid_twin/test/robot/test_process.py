"""The robot as a process: start, stop and requirements."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from test_support.twin.prime_actuators import FILE

from humanoid_twin.ethercat.veth import VethError, veth_pair
from humanoid_twin.robot.main import main
from humanoid_twin.testing import robot

ACTUATORS = ("--actuators", str(FILE))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_robot_ends_on_request_and_leaves_nothing(prime_file, number):
    try:
        with robot(prime_file) as found:
            assert found.socket.is_socket()
            assert found.control.time() < found.control.time()
            assert found.control.epoch() > 0
            found.process.send_signal(number)
            assert found.process.wait(20) == 0
            assert not found.socket.exists()
            assert not found.can.is_symlink()
    except VethError as error:
        pytest.skip(str(error))


def test_drives_sit_on_their_joints_as_the_file_of_mountings_says(prime_file, tmp_path):
    path = tmp_path / "mountings.yaml"
    path.write_text(
        "left_elbow_pitch: {direction: -1, offset: 0.5}\n"
        "left_wrist_roll: {direction: -1, offset: -0.25}\n"
    )
    try:
        with robot(prime_file, clock="stepped", mountings=path) as found:
            found.control.set_joint("left_elbow_pitch", -0.3)
            found.control.set_joint("left_shoulder_yaw", 0.3)
            found.control.advance(0.001)
            drives = found.control.drives()
            counts = 524288 / 6.283185307
            assert drives[3]["position"] == pytest.approx((0.3 + 0.5) * counts, abs=100)
            assert drives[2]["position"] == pytest.approx(0.3 * counts, abs=100)
            motors = found.control.can_drives()
            assert motors[22]["position"] == pytest.approx(-0.25 - motors[22]["joint_position"])
            assert motors[23]["position"] == motors[23]["joint_position"]
    except VethError as error:
        pytest.skip(str(error))


def test_a_robot_without_a_bus_is_refused(prime_file, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--urdf", str(prime_file), *ACTUATORS])
    assert ended.value.code == 2
    assert "give --ring, --can or both" in capsys.readouterr().err


WRONG_WORDS = {
    ("--can", "x"): "'x', expected BUS=PATH",
    ("--ring", "lo", "--mailbox-delay-ms", "nan"): "nan: expected 0 or more",
    ("--can", "can=x", "--cable", "hc_a"): "--cable hc_a: give --ring for its other end",
}


@pytest.mark.parametrize("words", WRONG_WORDS, ids=" ".join)
def test_wrong_arguments_are_refused(prime_file, capsys, words):
    with pytest.raises(SystemExit):
        main(["--urdf", str(prime_file), *ACTUATORS, *words])
    assert WRONG_WORDS[words] in capsys.readouterr().err


def test_a_robot_brings_its_cable_along_and_takes_it_away(prime_file):
    ends = f"hct{os.getpid()}c", f"hct{os.getpid()}d"
    try:
        with veth_pair(*ends):
            pass
    except VethError as error:
        pytest.skip(str(error))
    words = ["--urdf", str(prime_file), *ACTUATORS, "--cable", ends[0], "--ring", ends[1]]
    command = [sys.executable, "-m", "humanoid_twin.robot.main", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == f"robot: 10 drives on {ends[1]}\n"
    assert set(ends) <= {name for _, name in socket.if_nameindex()}
    process.terminate()
    assert process.communicate(timeout=20) == ("", "")
    assert process.returncode == 0
    assert not set(ends) & {name for _, name in socket.if_nameindex()}


def test_missing_files_interfaces_and_buses_are_reported(prime_file, tmp_path, caplog):
    none, urdf, lone = str(tmp_path / "none"), str(prime_file), str(tmp_path / "lone.yaml")
    Path(lone).write_text("ring: [{joint: right_wrist_yaw, rotor: 0.04}]")
    cases = {
        f"URDF of the virtual robot '{none}': ": ["--urdf", none, "--ring", "lo"],
        f"mountings '{none}': ": ["--urdf", urdf, "--ring", "lo", "--mountings", none],
        "can't answer on 'hc_none'": ["--urdf", urdf, "--ring", "hc_none"],
        f"{FILE}: no CAN bus 'left', there are can": ["--urdf", urdf, "--can", "left=x"],
        f"{urdf} with {lone}: URDF of the virtual robot: no drive is on joint 'left_": [
            *("--urdf", urdf, "--actuators", lone, "--ring", "lo")
        ],
        f"{none}: cannot be read": ["--urdf", urdf, "--actuators", none, "--ring", "lo"],
        f"'{tmp_path}' exists and is no link": ["--urdf", urdf, "--can", f"can={tmp_path}"],
    }
    for why, words in cases.items():
        caplog.clear()
        assert main([*ACTUATORS, *words]) == 1
        (message,) = caplog.messages
        assert message.startswith(why)
