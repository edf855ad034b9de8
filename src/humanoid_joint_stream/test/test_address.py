"""The address of the robot on this machine, and why there is none."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from humanoid_joint_client import JointClient, NoAnswerError, address


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the socket of domain 7."""
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    monkeypatch.setattr(address, "socket_folder", lambda: own)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(own / "domain_7.sock"))
        yield own


def test_the_socket_of_a_robot_is_found(folder: Path) -> None:
    assert address.local_address(7) == f"unix:{folder}/domain_7.sock"


def test_a_robot_without_a_joint_stream_is_told_from_a_folder_that_others_can_enter(
    folder: Path,
) -> None:
    with pytest.raises(NoAnswerError, match="no joint stream of this user on this machine"):
        address.local_address(8)
    folder.chmod(0o755)
    with pytest.raises(NoAnswerError, match=r"own: expected a folder .* with mode 0700"):
        address.local_address(7)
    folder.rename(folder.with_name("away"))
    with pytest.raises(NoAnswerError, match="no joint stream of this user on this machine"):
        address.local_address(7)


def test_a_certificate_or_token_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    missing, there = tmp_path / "missing.crt", tmp_path / "robot.crt"
    there.write_text("")
    with pytest.raises(NoAnswerError, match=r"missing\.crt: cannot be read: No such file"):
        JointClient("robot:50051", certificate=missing, token="secret")
    for token in ("secrét", "two\nlines"):
        with pytest.raises(NoAnswerError, match="token: expected printable characters"):
            JointClient("robot:50051", certificate=there, token=token)
