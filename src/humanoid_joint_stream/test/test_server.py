"""The server over gRPC with a simulated robot: accepted clients, and answers."""

from __future__ import annotations

import asyncio
import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from socket import create_connection
from typing import Any

import grpc
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Intent, Mode, refused
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_joint_client import (
    Capability,
    Fault,
    InvalidRequestError,
    JointClient,
    LeaseTakenError,
    NoAnswerError,
    NoLeaseError,
    NotClearedError,
    NotReadyError,
    StreamFaultError,
    UnavailableError,
)
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.client import AHEAD
from humanoid_joint_client.rpc import methods
from humanoid_joint_client.status import Status
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server import transport
from humanoid_joint_stream.server.event_loop import EventLoop
from humanoid_joint_stream.server.robot_link import RobotLink
from humanoid_joint_stream.server.service import MOST_ASKED, JointStreamService, Robot
from humanoid_joint_stream.server.session import STATEMENT, Situation
from humanoid_joint_stream.server.state_hub import KEPT, NumberedState, Reader, StateHub
from humanoid_joint_stream.server.transport import (
    MOST_CALLS,
    MOST_CONNECTIONS,
    local_server,
    network_server,
)
from src.humanoid_joint_stream.test.joint_bench import COUNT, JOINTS, Bench, update

TOKEN = "a token of the test's"
REFUSED = (refused(Intent.START_REMOTE).name,)
IN_STANDBY = Situation(Mode.STANDBY)


class Link(RobotLink):
    """A mode manager that carries each request out, or refuses it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.refusal = ""
        self.waits = False  # a switch to REMOTE is pending until the test enters it
        self.requests: list[Mode] = []

    @property
    def situation(self) -> Situation:
        return self.bench.situation

    def request(self, mode: Mode) -> None:
        self.requests.append(mode)
        if mode is not Mode.REMOTE:
            self.bench.leave(Situation(mode))
        elif self.refusal:
            self.bench.situation = Situation(Mode.DAMPING, self.refusal, REFUSED)
        elif not self.waits:
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
        self.ticks: list[NumberedState] = []
        self.hub = StateHub(self._fresh, 0.0)
        self.robot: Robot | None = Robot(self.bench.session, self.hub, self.link)
        self.obstacle = "the control process does not run"
        service = JointStreamService(
            lambda: self.robot, lambda: self.obstacle, lambda: self.bench.now
        )
        self.answers = service.answers()

    def _fresh(self) -> list[NumberedState]:
        found = self.ticks.copy()
        del self.ticks[: len(found)]  # a test may append meanwhile, in another thread
        return found

    async def tick(self, number: int) -> None:
        """Run a tick and wait until every reader could have taken its state."""
        await self.have(number)

    async def have(self, *numbers: int) -> None:
        """Run several ticks; the server finds their states at once."""
        self.ticks.extend(NumberedState(it, b"%d" % it) for it in numbers)
        number = numbers[-1]
        while self.hub.latest.number < number:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)


def until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10.0
    while not happens():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.001)


@pytest.fixture
def served() -> Iterator[Served]:
    it = Served()
    yield it
    it.hub.stop("the test ends")


@pytest.fixture
def calls() -> Iterator[EventLoop]:
    it = EventLoop()
    yield it
    it.stop()


@contextmanager
def running(calls: EventLoop, server: grpc.aio.Server) -> Iterator[None]:
    calls.call(server.start())
    try:
        yield
    finally:
        calls.call(server.stop(None))


@pytest.fixture
def socket(served: Served, calls: EventLoop, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "sockets" / "a.sock"
    with running(calls, calls.call(local_server(served.answers, path))):
        yield path


@pytest.fixture
def client(socket: Path) -> Iterator[JointClient]:
    with JointClient(f"unix:{socket}") as it:
        yield it


def test_the_configuration_has_the_capabilities_of_each_joint(
    served: Served, client: JointClient
) -> None:
    """Case 36, the part of the configuration."""
    config = client.config
    assert config.names == JOINTS
    assert {joint.capabilities["load"] for joint in config.joints} == {Capability.PER_TICK}
    assert (config.max_horizon, config.min_horizon, config.lease_timeout) == (1.0, 0.02, 2.0)
    assert (config.update_rate, config.state_rate) == (100.0, 100.0)
    assert len(client.urdf()) == 800_000
    with pytest.raises(NoAnswerError, match="MuJoCo cannot read the description"):
        client.mjcf()


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
        bench.poll()
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
    served.bench.poll()
    (fault,) = client.faults()
    assert fault.cause == "motor: too hot"
    with pytest.raises(StreamFaultError, match="motor: too hot"), client.control():
        raise AssertionError
    served.link.refusal = "still too hot"
    with pytest.raises(NotClearedError, match="still too hot"):
        client.clear_fault(fault)
    served.link.refusal = ""
    client.clear_fault(fault)
    served.bench.poll()
    assert client.faults() == []
    with pytest.raises(InvalidRequestError, match="no such fault"):
        client.clear_fault(Fault(5, "", 0, True))


def test_a_client_reads_why_there_is_no_robot(served: Served, client: JointClient) -> None:
    served.robot = None
    for served.obstacle in ("the controller is not loaded", "the control process does not run"):
        with pytest.raises(UnavailableError, match=served.obstacle):
            client.feedback()


def test_a_client_whose_lease_is_lost_is_told_to_enter_the_block_again(
    served: Served, client: JointClient
) -> None:
    """The control process ends, and another one runs: that does not know the lease."""
    with client.control() as control:
        robot, served.robot = served.robot, None
        until(lambda: control._lost is not None)
        served.robot = robot
        with pytest.raises(NoLeaseError, match=r"lost \(UNAVAILABLE: .*enter the control block"):
            control.send([0.0] * COUNT)


def test_the_name_of_a_client_gives_a_terminal_no_orders(
    served: Served, client: JointClient
) -> None:
    client.call("AcquireLease", pb.LeaseRequest(owner="\x1b[2Jme\n\u202e"))
    with pytest.raises(LeaseTakenError, match=r"\\x1b\[2Jme\\n\\u202e has it"), client.control():
        raise AssertionError


def test_a_reply_without_a_lease_tells_why(client: JointClient) -> None:
    for call in ("KeepLease", "ReturnLease", "Deactivate"):
        reply = client.call(call, pb.LeaseToken(token="old"))
        assert (reply.status, reply.message) == (Status.NO_LEASE, "this lease is not in force")


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


def test_no_switch_is_requested_while_the_controller_is_unloaded(
    served: Served, client: JointClient
) -> None:
    """REMOTE is another controller's then."""
    served.bench.leave(Situation(Mode.STANDBY))
    served.bench.controller.on_cleanup()
    with pytest.raises(UnavailableError, match="controller is unloaded"), client.control():
        raise AssertionError
    assert not served.link.requests


def test_a_remote_of_another_controller_is_left_and_named(
    served: Served, client: JointClient
) -> None:
    activation, _ = activating(served, client)
    served.bench.situation = Situation(Mode.REMOTE)
    served.bench.now += 3 * SECOND
    answer = activation.result(timeout=10.0)
    assert answer.status == Status.NOT_READY
    assert answer.message.startswith("REMOTE is another controller's")
    assert served.link.requests == [Mode.REMOTE, Mode.DAMPING]


def cancelled(served: Served, activation: grpc.Future) -> None:
    activation.cancel()


def too_late(served: Served, activation: grpc.Future) -> None:
    served.bench.now += 3 * SECOND


def without_lease(served: Served, activation: grpc.Future) -> None:
    served.bench.session.lease.end()
    served.bench.enter()


def activating(
    served: Served, client: JointClient, before: Situation = IN_STANDBY
) -> tuple[grpc.Future, str]:
    """Begin an activation whose switch to REMOTE is pending; return it with its lease."""
    served.bench.leave(before)
    served.link.waits = True
    lease = served.bench.session.acquire_lease("bench", served.bench.now)
    activation = client._calls["Activate"].future(pb.ActivateRequest(lease=lease))
    until(lambda: served.link.requests == [Mode.REMOTE])
    return activation, lease


def test_a_request_that_the_robot_did_not_get_is_repeated(
    served: Served, client: JointClient
) -> None:
    activation, _ = activating(served, client)
    served.bench.now += STATEMENT + 1
    until(lambda: len(served.link.requests) > 1)
    served.bench.enter()
    assert activation.result(timeout=10.0).status == Status.OK
    assert served.link.requests == [Mode.REMOTE, Mode.REMOTE]


@pytest.mark.parametrize("event", [cancelled, too_late, without_lease])
def test_an_activation_whose_client_is_lost_ends_in_damping(
    served: Served, client: JointClient, event: Callable[[Served, grpc.Future], None]
) -> None:
    """A pending switch to REMOTE is cancelled."""
    activation, _ = activating(served, client)
    event(served, activation)
    until(lambda: served.link.requests == [Mode.REMOTE, Mode.DAMPING])
    assert not served.bench.session.activation


def test_an_activation_that_is_refused_in_the_same_words_again_changes_no_mode(
    served: Served, client: JointClient
) -> None:
    refusal = Situation(Mode.STANDBY, "still on its way", REFUSED)
    activation, _ = activating(served, client, refusal)

    def is_answered() -> bool:
        served.bench.now += SECOND // 100
        return activation.done()

    until(is_answered)
    answer = activation.result()
    assert (answer.status, answer.message) == (Status.NOT_READY, "still on its way")
    assert served.link.requests == [Mode.REMOTE]


def test_a_deactivation_takes_back_the_switch_of_an_activation_under_way(
    served: Served, client: JointClient
) -> None:
    activation, lease = activating(served, client)
    client.call("Deactivate", pb.LeaseToken(token=lease))
    assert served.link.requests == [Mode.REMOTE, Mode.DAMPING]
    assert activation.result(timeout=10.0).message == "the robot is in DAMPING"


def test_the_end_of_control_requests_damping_also_while_the_loop_is_held_up(
    served: Served, client: JointClient
) -> None:
    with client.control():
        served.bench.now += SECOND
    assert served.link.requests == [Mode.DAMPING]


def test_an_activation_waits_for_the_first_statement(served: Served, client: JointClient) -> None:
    served.bench.leave(Situation())
    states = iter([Situation(), Situation(), Situation(Mode.STANDBY)])

    class Beginning(Link):
        @property
        def situation(self) -> Situation:
            self.bench.situation = next(states, self.bench.situation)
            return self.bench.situation

    assert served.robot is not None
    served.robot.link = link = Beginning(served.bench)
    with client.control():
        assert link.requests == [Mode.REMOTE]


def test_server_answers_unavailable_without_a_control_process(
    served: Served, client: JointClient
) -> None:
    served.robot = None
    with pytest.raises(UnavailableError, match="control process does not run"):
        _ = client.config
    with pytest.raises(UnavailableError):
        next(client.states())
    client.synchronize()


def test_the_end_of_the_block_hides_no_error(served: Served, client: JointClient) -> None:
    """The robot has ended meanwhile."""
    with pytest.raises(KeyboardInterrupt), client.control() as control:
        control.send([0.0] * COUNT)
        served.robot = None
        raise KeyboardInterrupt


def test_an_end_that_is_interrupted_stops_the_robot_and_returns_the_lease(
    served: Served, client: JointClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), client.control() as control:
        monkeypatch.setattr(control, "_end_stream", interrupted)
    assert served.link.requests == [Mode.DAMPING]
    assert not served.bench.session.lease.owner


def test_a_control_that_fails_to_begin_returns_its_lease(
    served: Served, client: JointClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(lease: str) -> None:
        raise NoAnswerError("SyncTime")

    monkeypatch.setattr(client, "synchronize", fails)
    with pytest.raises(NoAnswerError, match="SyncTime"), client.control():
        raise AssertionError
    assert not served.bench.session.lease.owner


def test_a_slow_reader_gets_the_newest_state_and_the_fast_one_all(served: Served) -> None:
    """Case 30, in the server: no states are stored for a slow reader."""

    async def read() -> None:
        seen: list[bytes | None] = []

        async def follow(reader: Reader) -> None:
            while (message := await reader.next()) is not None:
                seen.append(message)

        with served.hub.reader(1) as fast, served.hub.reader(1) as slow:
            following = asyncio.create_task(follow(fast))
            for number in range(1, 50):
                await served.tick(number)
            assert seen == [b"%d" % number for number in range(1, 50)]
            assert await slow.next() == b"49"
            served.hub.stop("the test ends")
            await following
            assert await slow.next() is None
        assert served.hub.readers == 0

    asyncio.run(read())


def test_a_reader_that_was_held_up_for_a_moment_gets_what_it_has_missed(served: Served) -> None:
    """At most KEPT of it: else the newest."""
    served.hub = StateHub(served._fresh, KEPT / 4)

    async def read() -> None:
        with served.hub.reader(1) as reader:
            await served.have(1, 2, 3, 4)
            assert [await reader.next() for _ in range(4)] == [b"1", b"2", b"3", b"4"]
            await served.have(5, 6)
            await served.have(7, 8)
            assert [await reader.next() for _ in range(2)] == [b"5", b"6"]
            await served.have(9, 10, 11)
            assert await reader.next() == b"11"

    asyncio.run(read())


def test_a_decimated_reader_gets_every_nth_state(served: Served) -> None:
    async def read() -> None:
        with served.hub.reader(10) as reader:
            for number in range(1, 51):
                await served.tick(number)
                if number % 10 == 0:
                    assert await reader.next() == b"%d" % number

    asyncio.run(read())


def test_ticks_that_cannot_be_read_end_the_readers(served: Served) -> None:
    def broken() -> list[NumberedState]:
        raise ValueError("broken")

    served.hub = StateHub(broken, 0.0)

    async def read() -> None:
        for _ in range(2):
            with served.hub.reader(1) as reader:
                assert await reader.next() is None

    asyncio.run(read())


def test_many_readers_get_every_state(served: Served) -> None:
    async def read() -> None:
        seen: dict[int, list[bytes]] = {}

        async def follow(name: int) -> None:
            with served.hub.reader(1) as reader:
                while (message := await reader.next()) is not None:
                    seen.setdefault(name, []).append(message)

        tasks = [asyncio.create_task(follow(name)) for name in range(20)]
        await asyncio.sleep(0)
        for number in range(1, 10):
            await served.tick(number)
        served.hub.stop("the test ends")
        await asyncio.gather(*tasks)
        assert list(seen.values()) == [[b"%d" % number for number in range(1, 10)]] * 20

    asyncio.run(read())


def foreign(channel: grpc.Channel, call: str, kind: str) -> Callable[..., Any]:
    """Return a call of bytes, as of a client that is not ours."""
    path = next(it.path for it in methods() if it.name == call)
    found: Callable[..., Any] = getattr(channel, kind)(path, lambda data: data, lambda data: data)
    return found


def have_ticks(served: Served, *numbers: int) -> None:
    """Run ticks, once the server looks for them."""
    until(lambda: served.hub.readers > 0)
    served.ticks.extend(NumberedState(it, b"%d" % it) for it in numbers)
    until(lambda: served.hub.latest.number == numbers[-1])


def test_a_foreign_reader_that_is_slow_gets_the_newest_state(served: Served, socket: Path) -> None:
    asked: SimpleQueue[bytes | None] = SimpleQueue()
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        states = foreign(channel, "StreamStates", "stream_stream")(iter(asked.get, None))
        asked.put(b"")
        have_ticks(served, 1)
        assert next(states) == b"1"
        for last in (1000, 2000):
            for number in range(last - 99, last + 1):
                have_ticks(served, number)
            asked.put(b"")
            assert next(states) == b"%d" % last
        asked.put(None)
        assert list(states) == []


def test_a_foreign_reader_that_asks_once_gets_the_states_that_it_asked_for(
    served: Served, socket: Path
) -> None:
    """Also one that knows the call as of another kind: no state waits for it."""
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        call = foreign(channel, "StreamStates", "unary_stream")
        for count in (0, 3):
            states = call(pb.StatesRequest(count=count).SerializeToString())
            first = served.hub.latest.number + 1
            found = []
            for number in range(first, first + max(count, 1)):
                have_ticks(served, number)
                found.append(next(states))
            assert found == [b"%d" % it for it in range(first, first + max(count, 1))]
            assert list(states) == []
        with pytest.raises(grpc.RpcError) as refused:
            next(call(pb.StatesRequest(count=MOST_ASKED + 1).SerializeToString()))
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_the_client_asks_in_time_for_every_state(served: Served, client: JointClient) -> None:
    states = client.states()
    for number in range(1, 3 * AHEAD):
        threading.Thread(target=have_one, args=(served, number)).start()
        assert next(states).tick == number


def have_one(served: Served, number: int) -> None:
    until(lambda: served.hub.readers > 0)
    served.ticks.append(NumberedState(number, pb.State(tick=number).SerializeToString()))


def test_a_client_that_leaves_calls_open_takes_nothing_from_the_lease_s_owner(
    client: JointClient, socket: Path
) -> None:
    never = threading.Event()

    def no_message() -> Iterator[bytes]:
        never.wait()
        yield from ()

    with client.control() as control, grpc.insecure_channel(f"unix:{socket}") as channel:
        for name in ("GetConfig", "KeepLease", "StreamCommands"):
            call = foreign(channel, name, "stream_unary")
            pending = [call.future(no_message()) for _ in range(MOST_CALLS)]
            for _ in range(10):
                reply = client.call("KeepLease", pb.LeaseToken(token=control.lease))
                assert reply.status == Status.OK
            client.synchronize(control.lease)
            control.send([0.0] * COUNT)
            assert control.finish().counters.received == 1
            for it in pending:
                it.cancel()
        never.set()


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


def test_a_first_update_that_is_no_message_is_invalid(served: Served, socket: Path) -> None:
    """The client may have the lease: what it needs is a message."""
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        path = next(it.path for it in methods() if it.name == "StreamCommands")
        call = channel.stream_unary(path, lambda data: data, pb.StreamEnd.FromString)
        end = call(iter([b"\xff\xff"]), timeout=10.0)
    assert end.status == Status.INVALID_REQUEST
    assert end.message == "the update is no message Update"


def test_a_folder_that_others_can_enter_is_refused(served: Served, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(ConfigError, match="mode 0700"):
        asyncio.run(local_server(served.answers, tmp_path / "a.sock"))


@pytest.mark.parametrize("missing", ["certificate", "key", "token"])
def test_network_server_requires_tls_files_and_a_token(served: Served, missing: str) -> None:
    files = {"certificate": "a", "key": "b", "token": "c"} | {missing: ""}
    with pytest.raises(ConfigError, match=f"{missing}_file is empty"):
        asyncio.run(network_server(served.answers, "127.0.0.1:0", **files))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Certificate, key and token, made by the steps of the page of the joint stream."""
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


def credentials(files: dict[str, str]) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(Path(files["certificate"]).read_bytes())


@pytest.mark.parametrize(
    ("number", "handshake", "stay"),  # connections, [ms], of these
    [(3 * MOST_CONNECTIONS, 60_000, MOST_CONNECTIONS), (3, 200, 0)],
)
def test_silent_connections_are_limited_and_ended_and_others_work(
    served: Served,
    calls: EventLoop,
    files: dict[str, str],
    socket: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    handshake: int,
    stay: int,
) -> None:
    monkeypatch.setattr(transport, "HANDSHAKE", handshake)
    server, port = calls.call(network_server(served.answers, "localhost:0", **files))
    with running(calls, server):
        with ExitStack() as opened:
            made = [
                opened.enter_context(create_connection(("localhost", port), 10.0))
                for _ in range(number)
            ]
            for connection in made[stay:]:
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""
            with JointClient(f"unix:{socket}") as local:
                assert local.config.names == JOINTS

        def connects() -> bool:
            own = f"localhost:{port}", files["certificate"]
            with JointClient(own[0], certificate=own[1], token=TOKEN) as far:
                with suppress(NoAnswerError):
                    return far.config.names == JOINTS
                return False

        until(connects)


def test_only_a_client_with_the_token_is_admitted(
    served: Served, calls: EventLoop, files: dict[str, str]
) -> None:
    server, port = calls.call(network_server(served.answers, "localhost:0", **files))
    address, certificate = f"localhost:{port}", files["certificate"]
    with running(calls, server):
        for token in (TOKEN, Path(files["token"]).read_text()):  # a file's line has an end
            with JointClient(address, certificate=certificate, token=token) as client:
                assert client.config.names == JOINTS
        with JointClient(address, certificate=certificate, token="wrong") as client:
            for call in (lambda: client.config, lambda: next(client.states())):
                with pytest.raises(NoAnswerError, match="UNAUTHENTICATED"):
                    call()
        with grpc.insecure_channel(address) as channel:
            call = channel.unary_unary(methods()[0].path)
            with pytest.raises(grpc.RpcError):
                call(b"", timeout=5.0)
        with grpc.secure_channel(address, credentials(files)) as channel:
            for method in methods():  # without a message, which would never be read
                pending = [
                    foreign(channel, method.name, "stream_stream")(iter(SimpleQueue().get, None))
                    for _ in range(5)
                ]
                for it in pending:
                    with pytest.raises(grpc.RpcError) as refused:
                        next(it)
                    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    with pytest.raises(NoAnswerError, match="certificate and a token"):
        JointClient(address)


def test_a_short_token_is_refused(served: Served, files: dict[str, str], tmp_path: Path) -> None:
    short = tmp_path / "token"
    short.write_text("short")
    with pytest.raises(ConfigError, match="5 characters, expected 16"):
        asyncio.run(network_server(served.answers, "localhost:0", **files | {"token": str(short)}))
