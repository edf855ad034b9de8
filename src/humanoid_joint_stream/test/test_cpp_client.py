"""A program in C++, made from the .proto by the steps of the page of the joint stream."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_stream.server.state_hub import NumberedState
from src.humanoid_joint_stream.test.joint_bench import COUNT, JOINTS
from src.humanoid_joint_stream.test.test_server import (  # noqa: F401 - fixtures
    Served,
    calls,
    served,
    socket,
)

ROOT = Path(__file__).resolve().parents[3]
PROTO = ROOT / "src/humanoid_joint_client/humanoid_joint_client/joint_stream.proto"
EXAMPLE = ROOT / "docs/examples/joint_stream_state.cpp"
PROTOC = "/usr/bin/protoc"  # of the same release as the libraries of the system


def tools() -> bool:
    """Return True if compiler and libraries are installed."""
    there = all(map(shutil.which, (PROTOC, "grpc_cpp_plugin", "g++", "pkg-config")))
    words = ["pkg-config", "--exists", "grpc++", "protobuf"]
    return there and subprocess.run(words, check=False).returncode == 0


@pytest.fixture
def program(tmp_path: Path) -> Path:
    if not tools():
        pytest.skip("the tools of gRPC for C++ are not installed")
    plugin = f"--plugin=protoc-gen-grpc={shutil.which('grpc_cpp_plugin')}"
    own = [PROTOC, f"-I{PROTO.parent}", "--cpp_out=.", "--grpc_out=.", plugin, PROTO.name]
    subprocess.run(own, cwd=tmp_path, check=True)
    libraries = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    sources = [str(EXAMPLE), "joint_stream.pb.cc", "joint_stream.grpc.pb.cc"]
    compiler = ["g++", "-std=c++17", "-I.", *sources, *libraries, "-o", "program"]
    subprocess.run(compiler, cwd=tmp_path, check=True)
    return tmp_path / "program"


def test_a_program_in_cpp_reads_the_states(
    program: Path,
    served: Served,  # noqa: F811
    socket: Path,  # noqa: F811
) -> None:
    position = [0.25 * (joint + 1) for joint in range(COUNT)]
    message = pb.State(position=position).SerializeToString()
    running = subprocess.Popen([str(program), f"unix:{socket}"], stdout=subprocess.PIPE, text=True)
    number = 0
    while running.poll() is None:
        if served.hub.readers and not served.ticks:
            number += 1
            served.ticks.append(NumberedState(number, message))
    lines = running.communicate()[0].splitlines()
    assert running.returncode == 0
    expected = [f"{name} {value:.4f}" for name, value in zip(JOINTS, position, strict=True)]
    assert lines == expected * 10


def test_a_program_in_cpp_states_why_the_states_end(
    program: Path,
    served: Served,  # noqa: F811
    socket: Path,  # noqa: F811
) -> None:
    running = subprocess.Popen([str(program), f"unix:{socket}"], stderr=subprocess.PIPE, text=True)
    while running.poll() is None:
        if served.hub.readers:
            served.hub.stop("the control process has ended")
    assert running.communicate()[1] == "the control process has ended\n"
    assert running.returncode == 1
