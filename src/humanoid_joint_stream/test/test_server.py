"""The server over gRPC, with a robot of the test's: who gets in, and what the calls answer."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_joint_client import (
    Acts,
    Fault,
    InvalidRequestError,
    JointClient,
    LeaseTakenError,
    NoAnswerError,
    NotClearedError,
    NotReadyError,
    StreamFaultError,
    UnavailableError,
)
from humanoid_joint_client.rpc import methods
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.robot_link import RobotLink
from humanoid_joint_stream.server.service import JointStreamService, Robot
from humanoid_joint_stream.server.session import Situation
from humanoid_joint_stream.server.state_hub import StateHub
from humanoid_joint_stream.server.transport import local_server, network_server
from src.humanoid_joint_stream.test.joint_bench import JOINTS, Bench, update

TOKEN = "a token of the test's"


class Link(RobotLink):
    """A mode manager that does what is requested, or refuses."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.refusal = ""
        self.requests: list[Mode] = []

    @property
    def situation(self) -> Situation:
        return self.bench.situation

    def request(self, mode: Mode) -> None:
        self.requests.append(mode)
        if mode is not Mode.REMOTE:
            self.bench.leave(Situation(mode))
        elif self.refusal:
            codes = ("REJECTED_START_REMOTE",)
            self.bench.situation = Situation(Mode.DAMPING, self.refusal, codes)
        else:
            self.bench.enter()

    def clear_fault(self) -> str:
        if not self.refusal:
            self.bench.situation = Situation(self.bench.situation.mode)
        return self.refusal

    def description(self) -> str:
        return "<robot/>" * 100_000


class Served:
    """A robot with its server, on the bench's clock."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.link = Link(self.bench)
        self.ticks: list[tuple[int, bytes]] = []
        self.readers = 1  # that have to be there before a tick comes
        self.hub = StateHub(self._newest, 0.0)
        self.robot: Robot | None = Robot(self.bench.session, self.hub, self.link)
        service = JointStreamService(lambda: self.robot, lambda: self.bench.now)
        self.answers = service.answers()

    def _newest(self) -> tuple[int, bytes] | None:
        return self.ticks.pop(0) if self.ticks and self.hub.readers >= self.readers else None

    def first(self, number: int, *readers: Iterator[bytes]) -> None:
        """Give all readers their first state, once all of them are there."""
        self.readers = len(readers)
        self.ticks.append((number, b"%d" % number))
        with ThreadPoolExecutor() as pool:
            assert set(pool.map(next, readers)) == {b"%d" % number}


@pytest.fixture
def served() -> Iterator[Served]:
    it = Served()
    yield it
    it.hub.stop()


@contextmanager
def running(server: grpc.Server) -> Iterator[None]:
    server.start()
    try:
        yield
    finally:
        server.stop(None).wait()


@pytest.fixture
def socket(served: Served, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "sockets" / "a.sock"
    with running(local_server(served.answers, path)):
        yield path


@pytest.fixture
def client(socket: Path) -> Iterator[JointClient]:
    with JointClient(f"unix:{socket}") as it:
        yield it


def test_the_configuration_tells_what_each_joint_can_do(
    served: Served, client: JointClient
) -> None:
    """Case 36, the part of the configuration."""
    config = client.config
    assert config.names == JOINTS
    assert {joint.acts["load"] for joint in config.joints} == {Acts.PER_TICK}
    assert (config.max_horizon, config.min_horizon, config.lease_timeout) == (1.0, 0.02, 2.0)
    assert (config.update_rate, config.state_rate) == (100.0, 100.0)
    assert len(client.description()) == 800_000


def test_a_fault_refuses_activations_until_it_is_cleared(
    served: Served, client: JointClient
) -> None:
    """Case 22, over the wire."""
    bench = served.bench
    limited = {"velocity_safety_limit": 0.5, "end_time": bench.now + SECOND}
    with client.control() as control:
        control.send_update(update(bench.now, **limited))
        control.send_update(update(bench.now, end_time=None))  # ends the stream: both have come
        with pytest.raises(InvalidRequestError, match="end_time: missing"):
            control._result(control._stream)
        control.activate()
        bench.state.velocity[1] = 1.0
        control.send_update(update(bench.now, **limited))
        while bench.file.commands.number < 2:
            time.sleep(0.001)
        bench.server_lives = False
        bench.tick()
        bench.look()
        with pytest.raises(StreamFaultError, match="elbow moved at 1"):
            control._result(control._stream)
        with pytest.raises(StreamFaultError, match="elbow moved at 1"):
            control.activate()
        (fault,) = client.faults()
        with pytest.raises(LeaseTakenError):
            client.clear_fault(fault)
        client.clear_fault(fault, control.lease)
        bench.state.velocity[1] = 0.0
        bench.tick()
        assert client.faults() == []
        control.activate()


def test_the_robots_own_fault_is_listed_and_cleared(served: Served, client: JointClient) -> None:
    """Case 35, over the wire."""
    fallen = Situation(Mode.DAMPING, "motor: too hot", (FELL_TO_SAFETY.name,), 7)
    served.bench.leave(fallen)
    served.bench.look()
    (fault,) = client.faults()
    assert fault.cause == "motor: too hot"
    with pytest.raises(StreamFaultError, match="motor: too hot"), client.control():
        raise AssertionError
    served.link.refusal = "still too hot"
    with pytest.raises(NotClearedError, match="still too hot"):
        client.clear_fault(fault)
    served.link.refusal = ""
    client.clear_fault(fault)
    served.bench.look()
    assert client.faults() == []
    with pytest.raises(InvalidRequestError, match="no such fault"):
        client.clear_fault(Fault(5, "", 0, True))


def test_control_goes_from_standby_to_remote_and_ends_in_damping(
    served: Served, client: JointClient
) -> None:
    served.bench.leave(Situation(Mode.STANDBY))
    with client.control() as control:
        assert control.lease
    assert served.link.requests == [Mode.REMOTE, Mode.DAMPING]
    words = r"finished STANDBY \(currently DAMPING\)"
    with pytest.raises(NotReadyError, match=words), client.control():
        raise AssertionError
    served.bench.situation = Situation(Mode.STANDBY)
    served.link.refusal = "not finished"
    with pytest.raises(NotReadyError, match="not finished"), client.control():
        raise AssertionError


def test_without_a_control_process_everything_is_unavailable(
    served: Served, client: JointClient
) -> None:
    served.robot = None
    with pytest.raises(UnavailableError, match="control process does not run"):
        _ = client.config
    with pytest.raises(UnavailableError):
        next(client.states())
    client.synchronize()


def test_a_slow_reader_gets_the_newest_state_and_the_fast_one_all(served: Served) -> None:
    """Case 30, in the server: nothing is kept for a slow reader."""
    hub, seen = served.hub, []
    slow, fast = hub.read(1, lambda: True), hub.read(1, lambda: True)
    served.first(1, slow, fast)
    for number in range(2, 50):
        served.ticks.append((number, b"%d" % number))
        seen.append(next(fast))
    assert seen[-1] == b"49"
    assert len(seen) == 48
    assert next(slow) == b"49"
    fast.close()
    slow.close()
    assert hub.readers == 0


def test_a_decimated_reader_gets_every_nth_state(served: Served) -> None:
    pace, reader = (served.hub.read(step, lambda: True) for step in (1, 10))
    seen = []
    served.first(10, pace, reader)
    for number in range(11, 51):
        served.ticks.append((number, b"%d" % number))
        next(pace)
        if number % 10 == 0:
            seen.append(next(reader))
    assert seen == [b"20", b"30", b"40", b"50"]


def test_garbage_and_large_messages_are_refused_and_the_server_goes_on(
    served: Served, socket: Path, client: JointClient
) -> None:
    """Case 41."""
    chance = random.Random(1)
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        for method in methods():
            if method.kind != "unary_unary":
                continue
            call = channel.unary_unary(method.path, lambda data: data, lambda data: data)
            for size in (1, 20, 200, 70_000):
                try:
                    call(chance.randbytes(size), timeout=10.0)
                except grpc.RpcError as error:
                    expected = {grpc.StatusCode.INTERNAL, grpc.StatusCode.RESOURCE_EXHAUSTED}
                    assert error.code() in expected
    assert client.config.names == JOINTS


def test_a_folder_that_others_can_enter_is_refused(served: Served, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(ConfigError, match="mode 0700"):
        local_server(served.answers, tmp_path / "a.sock")


@pytest.mark.parametrize("missing", ["certificate", "key", "token"])
def test_other_machines_need_tls_and_a_token(served: Served, missing: str) -> None:
    files = {"certificate": "a", "key": "b", "token": "c"} | {missing: ""}
    with pytest.raises(ConfigError, match=f"{missing}_file is empty"):
        network_server(served.answers, "127.0.0.1:0", **files)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Certificate, key and token, as the page of the joint stream makes them."""
    folder = tmp_path_factory.mktemp("tls")
    words = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "30",
        "-subj",
        "/CN=localhost",
    ]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "a.key", "-out", "a.crt"]
    subprocess.run(["openssl", *words, *names], cwd=folder, check=True, capture_output=True)
    (folder / "token").write_text(f"{TOKEN}\n")
    return {
        "certificate": str(folder / "a.crt"),
        "key": str(folder / "a.key"),
        "token": str(folder / "token"),
    }


def test_only_who_has_the_token_gets_in(served: Served, files: dict[str, str]) -> None:
    server, port = network_server(served.answers, "localhost:0", **files)
    address, certificate = f"localhost:{port}", files["certificate"]
    with running(server):
        with JointClient(address, certificate=certificate, token=TOKEN) as client:
            assert client.config.names == JOINTS
        with JointClient(address, certificate=certificate, token="wrong") as client:
            for call in (lambda: client.config, lambda: next(client.states())):
                with pytest.raises(NoAnswerError, match="UNAUTHENTICATED"):
                    call()
        with grpc.insecure_channel(address) as channel:
            call = channel.unary_unary(methods()[0].path)
            with pytest.raises(grpc.RpcError):
                call(b"", timeout=5.0)
    with pytest.raises(NoAnswerError, match="certificate and a token"):
        JointClient(address)


def test_a_short_token_is_refused(served: Served, files: dict[str, str], tmp_path: Path) -> None:
    short = tmp_path / "token"
    short.write_text("short")
    with pytest.raises(ConfigError, match="5 characters, expected 16"):
        network_server(served.answers, "localhost:0", **files | {"token": str(short)})
