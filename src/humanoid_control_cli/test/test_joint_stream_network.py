"""The joint stream over a network: TLS and token, a virtual cable that is cut, several rates.

The tests judge by the records of the control loop's ticks, not by the stream's own states.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import numpy as np
import pytest
import yaml

from benchmarks.support.http2 import Connection
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.robot.operator_requests import clear_faults, press
from humanoid_joint_client import (
    Execution,
    ExpiredError,
    InactiveError,
    JointClient,
    JointStates,
    StreamFaultError,
    TooDistantError,
)
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.address import socket_path
from humanoid_joint_client.rpc import LARGEST_MESSAGE, methods
from humanoid_joint_client.time_sync import Synchronization
from src.humanoid_control_cli.test.conftest import Run, Starter, wait_until
from src.humanoid_control_cli.test.stream_breaking import (
    ENDS,
    KILLED,
    disconnects,
)
from src.humanoid_control_cli.test.stream_robot import (
    TIMEOUT,
    Ticks,
    brought_up,
    connected,
    ends,
    is_free,
    is_stiff,
    standing_by,
    stiff_beyond,
    until,
    until_executed,
)

PATH: Final = f"{os.environ['PATH']}:/usr/sbin:/sbin"
HERE, THERE = "10.78.0.1", "10.78.0.2"
TOKEN: Final = "a token of the test's"
MOST_STATES: Final = 4000  # 20 s at 200 Hz
# A client that moves the robot until it dies. It prints the key and latest end of each command.
MOVING: Final = """
import math, sys, time
from humanoid_joint_client import JointClient
address, certificate, token, horizon = sys.argv[1:5]
words = {"certificate": certificate, "token": token} if certificate else {}
with JointClient(address, **words) as client:
    start = next(client.states()).position
    with client.control() as control:
        begin = time.monotonic()
        while True:
            phase = 2.0 * math.pi * (time.monotonic() - begin)
            target = start + 0.05 * math.sin(phase)
            key = control.send(target, horizon=float(horizon))
            print("sent", key, client.robot_time() + round(float(horizon) * 1e9), flush=True)
            time.sleep(0.005)
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], env=os.environ | {"PATH": PATH}, check=True, capture_output=True)


class Cable:
    """A cable from this machine to another one, which is a network namespace."""

    def __init__(self) -> None:
        self.machine = f"hcs{os.getpid()}"
        self.end = f"hcs{os.getpid()}a"
        ip("netns", "add", self.machine)
        ip("link", "add", self.end, "type", "veth", "peer", "name", "far", "netns", self.machine)
        ip("addr", "add", f"{HERE}/24", "dev", self.end)
        ip("link", "set", self.end, "up")
        ip("-n", self.machine, "addr", "add", f"{THERE}/24", "dev", "far")
        self.mend()

    def cut(self) -> None:
        """Cut the cable: data ends without a signal of that."""
        ip("-n", self.machine, "link", "set", "far", "down")

    def mend(self) -> None:
        ip("-n", self.machine, "link", "set", "far", "up")

    def remove(self) -> None:
        for words in (["link", "del", self.end], ["netns", "del", self.machine]):
            subprocess.run(["ip", *words], env={"PATH": PATH}, check=False, capture_output=True)


@pytest.fixture(scope="module")
def cable() -> Iterator[Cable]:
    if os.geteuid() != 0 or not shutil.which("ip", path=PATH):
        pytest.skip("needs root, and the program ip")
    try:
        it = Cable()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
    yield it
    it.remove()


@dataclass(frozen=True)
class ServerAddress:
    """The address of the robot for another machine."""

    address: str
    certificate: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> ServerAddress:
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=robot -keyout a.key -out a.crt"
    name = f"subjectAltName=IP:{HERE},IP:127.0.0.1"
    command = ["openssl", *words.split(), "-addext", name]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "token").write_text(TOKEN)
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    return ServerAddress(f"{HERE}:{port}", str(folder / "a.crt"))


@pytest.fixture(scope="module")
def robot(
    start_once: Starter,
    quick_controllers: Path,
    server: ServerAddress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Starter:
    content = yaml.safe_load(quick_controllers.read_text())
    folder = Path(server.certificate).parent
    content["joint_stream"] = {
        "ros__parameters": {
            "listen": f"0.0.0.0:{server.address.rpartition(':')[2]}",
            "certificate_file": server.certificate,
            "key_file": str(folder / "a.key"),
            "token_file": str(folder / "token"),
        }
    }
    file = tmp_path_factory.mktemp("robot") / "controllers.yaml"
    file.write_text(yaml.safe_dump(content))
    return brought_up(start_once, "mujoco", file, "--full-mit")


@pytest.fixture
def ready(robot: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModeClient]:
    yield from standing_by(robot, monkeypatch)


@pytest.fixture
def client(robot: Starter) -> Iterator[JointClient]:
    yield from connected(robot)


@pytest.fixture
def far(client: JointClient, server: ServerAddress) -> Iterator[JointClient]:
    """A client over TLS and TCP."""
    port = server.address.rpartition(":")[2]
    wait_until(lambda: is_free(client), "the end of an earlier client's lease")
    words = {"certificate": server.certificate, "token": TOKEN, "timeout": TIMEOUT}
    with JointClient(f"127.0.0.1:{port}", **words) as found:
        yield found


def moving(robot: Starter, server: ServerAddress | None, horizon: float, *before: str) -> Run:
    words = ("", "", "") if server is None else (server.address, server.certificate, TOKEN)
    run = robot(*before, sys.executable, "-c", MOVING, *words, str(horizon))
    run.wait_for("sent 50 ")
    return run


def ends_of(run: Run) -> dict[int, int]:
    """Return the latest end of each command [ns] by its key."""
    found = [line.split() for line in run.text.splitlines() if line.startswith("sent ")]
    return {int(words[1]): int(words[2]) for words in found if len(words) == 3}


def test_a_network_that_drops_everything_leaves_the_robot_at_the_end_of_the_command(
    robot: Starter, ready: ModeClient, client: JointClient, cable: Cable, server: ServerAddress
) -> None:
    """Case 28 of docs/verification/joint_stream.md, over TLS and TCP."""
    horizon = 0.25
    run = moving(robot, server, horizon, "ip", "netns", "exec", cable.machine)
    ticks, states = Ticks(), client.states()
    until(states, lambda it: it.execution is Execution.FOLLOWING)
    before = ticks.number
    cable.cut()
    try:
        state = until(states, lambda it: it.execution is Execution.FALLBACK)
        wait_until(lambda: client.feedback().message, "the reason")
        assert client.feedback().message.startswith("EXPIRED: ")
        end = ends_of(run)[state.applied_key]
        found = ticks.since(before)
        stiff = is_stiff(found)
        assert stiff[0]
        assert stiff_beyond(found, end) == 0
        last = found["monotonic"][stiff][-1]
        assert end - last < horizon * 1e9, "nothing but the end of the command has ended it"
        assert run.finish() == 1  # the client also gets the status
        assert "Error" in run.text
    finally:
        cable.mend()


def test_a_client_that_is_killed_while_it_moves_the_robot_loses_it_before_its_command_ends(
    robot: Starter, ready: ModeClient, client: JointClient
) -> None:
    """Case 27 of docs/verification/joint_stream.md."""
    run = moving(robot, None, 0.9)
    ticks, states = Ticks(), client.states()
    until(states, lambda it: it.execution is Execution.FOLLOWING)
    before = ticks.number - 1  # the tick that follows now: the next one may be soft already
    run.send(signal.SIGKILL)
    until(states, lambda it: it.execution is Execution.FALLBACK)
    found = ticks.since(before)
    soft = found["monotonic"][~is_stiff(found)]
    assert is_stiff(found)[0], client.feedback().message
    assert soft[0] < max(ends_of(run).values())
    wait_until(lambda: client.feedback().message, "the reason")
    assert client.feedback().message == "INACTIVE: the connection was lost"


@pytest.mark.soak  # needs a machine without hold-ups
def test_a_pose_is_held_at_the_rate_of_states(ready: ModeClient, far: JointClient) -> None:
    """Case 1 of docs/verification/joint_stream.md, with TLS."""
    states = far.states()
    first = until(states, lambda it: np.abs(it.velocity).max() < 0.01)  # STANDBY was a quick one
    pose, load = first.position, first.load  # the load holds the arms: other gains, the same pose
    gains = np.full(14, 120.0), np.full(14, 6.0)
    with far.control() as control:
        for number in range(666):
            control.send(pose, load=load, gains=gains if number == 0 else None, horizon=0.5)
            time.sleep(0.003)
        moved = np.abs(next(states).position - pose).max()  # at its end the arms sink
        end = control.finish()
    assert end.counters.received == end.counters.accepted == 666 - control.dropped
    assert moved < 0.01


def test_a_load_beyond_its_limit_never_becomes_a_greater_torque(
    ready: ModeClient, client: JointClient
) -> None:
    """Case 19 of docs/verification/joint_stream.md, in MuJoCo."""
    ticks, states = Ticks(), client.states(keep=1000)
    pose = next(states).position
    config = client.config
    limits = np.array([joint.effort for joint in config.joints])
    stiffness, damping = config.mode_gains()
    stiffness[0], damping[0] = 0.0, 25.0
    load = np.zeros(14)
    load[0] = 10.0 * limits[0]
    with client.control() as control:
        before = ticks.number
        for _ in range(8):
            control.send(pose, load=load, gains=(stiffness, damping), horizon=0.05)
            time.sleep(0.005)
        assert until(states, lambda it: it.load_clipped).execution is Execution.FOLLOWING
        assert "over before" in ends(control, ExpiredError)
    found = ticks.since(before)
    commanded, measured = found["command"][:, 2, 0], found["state"][:, 2, 0]
    assert commanded.max() == pytest.approx(limits[0])
    assert measured.max() <= limits[0] * 1.001
    assert measured.max() > 0.5 * limits[0]


@pytest.mark.soak  # needs a machine without hold-ups
def test_a_thousand_keys_come_back_in_order_and_after_their_sending(
    ready: ModeClient, far: JointClient
) -> None:
    """Case 25 of docs/verification/joint_stream.md.

    A benchmark measures the time.
    """
    states = far.states(keep=5000)
    pose = next(states).position
    sent, echoed = {}, []
    with far.control() as control:
        for key in range(1, 1001):
            sent[key] = far.robot_time()
            control.send(pose, key=key, horizon=0.5)
            time.sleep(0.001)
        for state in islice(states, MOST_STATES):
            if state.received_key and state.received > sent[1]:
                echoed.append(state)
            if state.received_key == 1000:
                break
        else:
            pytest.fail(f"the last key did not come back: {far.feedback()}")
        slowest = far.synchronize().round_trip
    keys = [state.received_key for state in echoed]
    assert keys == sorted(keys)
    assert len(set(keys)) > 100
    for state in echoed:
        assert state.received > sent[state.received_key] - slowest - 1_000_000
        assert state.applied_key <= state.received_key


def test_the_key_0_is_none(ready: ModeClient, client: JointClient) -> None:
    """Case 26 of docs/verification/joint_stream.md."""
    states = client.states()
    start = next(states)
    pose = start.position
    with client.control() as control:
        first = control.send(pose, horizon=0.5)
        until_executed(states, first, start)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(3):
                control.send(pose, key=0, horizon=0.5)
        assert len(caught) == 1
        state = until(states, lambda it: it.received_key == 0)
        assert until(states, lambda it: it.applied_key == 0).execution is Execution.FOLLOWING
        assert state.received > 0


@pytest.mark.soak  # needs a machine without hold-ups
def test_a_reader_that_sleeps_gets_the_newest_state_and_the_other_one_all(
    robot: Starter, ready: ModeClient, client: JointClient
) -> None:
    """Case 30 of docs/verification/joint_stream.md.

    A reader that sleeps, and one that does not read at all.
    """
    fast, slow = client.states(keep=2000), client.states()
    asleep = Connection(str(socket_path()))
    stream = asleep.open("StreamStates")

    def newest() -> int:
        asleep.send(stream, b"")
        while not (found := asleep.messages.pop(stream, [])):
            asleep.read()
        return int(pb.State.FromString(found[0]).tick)

    newest()
    first = next(fast).tick
    next(slow)
    for number, state in zip(range(1, 201), fast, strict=False):
        assert state.tick == first + number, "the fast one has missed a state"
    last = next(slow)
    assert last.tick >= first + 150
    assert newest() >= first + 150
    asleep.close()


def test_a_stop_by_the_operator_ends_the_stream_and_is_a_fault(
    robot: Starter, ready: ModeClient, client: JointClient
) -> None:
    """Case 35 of docs/verification/joint_stream.md.

    Faults of drives and motors: see the fault campaign.
    """
    states, ticks = client.states(), Ticks()
    start = next(states)
    with client.control() as control:
        until_executed(states, control.send(start.position, horizon=0.9), start)
        press(ready._client)
        before = ticks.number
        assert "emergency stop" in ends(control, InactiveError).lower()
        wait_until(client.faults, "the fault")
        with pytest.raises(StreamFaultError):
            control.activate()
        assert not is_stiff(ticks.since(before)).any()
        clear_faults(ready._client)
        wait_until(lambda: not client.faults(), "no fault")


@pytest.mark.parametrize(
    ("offset", "error"), [(5_000_000_000, TooDistantError), (-5_000_000_000, ExpiredError)]
)
def test_a_clock_that_is_wrong_needs_the_synchronization(
    ready: ModeClient,
    client: JointClient,
    monkeypatch: pytest.MonkeyPatch,
    offset: int,
    error: type[Exception],
) -> None:
    """Case 37 of docs/verification/joint_stream.md."""
    now = time.monotonic_ns
    monkeypatch.setattr(
        "humanoid_joint_client.client.time", SimpleNamespace(monotonic_ns=lambda: now() + offset)
    )
    states = client.states(keep=1000)
    start = next(states)
    pose = start.position
    with client.control() as control:
        state = until_executed(states, control.send(pose, horizon=0.9), start)
        assert state.execution is Execution.FOLLOWING
        monkeypatch.setattr(client, "synchronize", lambda _="": client._synchronization)
        client._synchronization = Synchronization(0, 0)
        control.send(pose, horizon=0.5)
        ends(control, error)


@pytest.mark.parametrize("rate", [20, 100, 333, 1000])
def test_every_rate_is_taken_and_the_last_command_of_a_tick_counts(
    ready: ModeClient, far: JointClient, rate: int
) -> None:
    """Case 38 of docs/verification/joint_stream.md."""
    ticks, states = Ticks(), far.states(decimation=1, keep=5000)
    pose = next(states).position
    count = max(10, rate // 2)
    with far.control() as control:
        before = ticks.number
        for _ in range(count):
            key = control.send(pose, horizon=0.9)
            time.sleep(1.0 / rate)
        # In a queue the last of 500 commands would be over before its turn, at 200 Hz.
        last = until(states, lambda it: it.applied_key == key or it.execution is Execution.FALLBACK)
        assert last.applied_key == key, far.feedback().message
        end = control.finish()
    assert end.counters.received == end.counters.accepted == count - control.dropped
    assert 0 < end.counters.applied <= min(count, ticks.number - before)


@pytest.mark.soak  # needs a machine without hold-ups
def test_no_state_is_missing_and_time_only_rises(ready: ModeClient, far: JointClient) -> None:
    """Case 39 of docs/verification/joint_stream.md, counted on ticks; the soak counts on 10 s."""
    states = far.states(decimation=1, keep=5000)
    found = [state for _, state in zip(range(400), states, strict=False)]
    assert np.diff([state.tick for state in found]).tolist() == [1] * 399
    assert min(np.diff([state.acquired for state in found])) > 0


@pytest.mark.soak  # needs a machine without hold-ups
def test_bytes_at_random_and_huge_arrays_do_not_reach_the_robot(
    ready: ModeClient, client: JointClient
) -> None:
    """Case 41 of docs/verification/joint_stream.md: beside a client that goes on."""
    chance = np.random.default_rng(1)
    states = client.states(keep=2000)
    start = next(states)
    pose = start.position
    huge = pb.Update(position=[0.0] * 1_000_000).SerializeToString()
    fits = pb.Update(position=[0.0] * (LARGEST_MESSAGE // 8 - 10)).SerializeToString()
    with client.control() as control:
        for method in methods():
            for data in (chance.bytes(3), chance.bytes(3000), huge, fits):
                connection = Connection(str(socket_path()))
                stream = connection.open(method.name)
                with suppress(OSError, EOFError):  # it may be closed meanwhile
                    connection.send(stream, data, last=True)
                    if method.name != "StreamStates":  # some bytes are a message of these
                        connection.result(stream)
                connection.close()
                control.send(pose, horizon=0.9)
        for data in (b"GET / HTTP/1.1\r\n\r\n", chance.bytes(5000)):
            connection = Connection(str(socket_path()))
            with suppress(OSError):
                connection.send_raw(data)
            connection.close()
        last = until_executed(states, control.send(pose, horizon=0.9), start)
        assert last.execution is Execution.FOLLOWING
        assert isinstance(last, JointStates)


def test_a_program_that_ends_at_random_loses_the_robot(
    ready: ModeClient, client: JointClient
) -> None:
    """Cases 11, 27 and 34 of docs/verification/joint_stream.md; `make soak` has 10 000 of them."""
    found = disconnects(str(socket_path()), 40, 1)
    assert {it.how for it in found} == {KILLED, *(act.__name__ for act in ENDS)}


def test_a_token_that_cannot_be_read_is_named(hc_here, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xff\xfe")
    words = ("--address", "127.0.0.1:1", "--certificate", file, "--token-file", file)
    code, lines = hc_here("stream", "latency", *words)
    assert code == 1
    assert lines[-1].startswith(f"hc: {file}: cannot be read: ")
