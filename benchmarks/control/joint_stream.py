"""Compare the joint stream with a gRPC server that only echoes the same messages.

The robot is `hc up mock --full-mit` with 14 joints and a loop of 333 and 1000 Hz. This process is
its client, reads the state of each tick and answers it with a command. Further readers are in
another process. It uses little processor time, like readers on other machines. Measured:

* one way: from `send` to the server's receipt (goal: p99 within 1 ms),
* echo: from `send` to the state of the tick that executes the command (goal: p99 within 2 periods),
* the gaps between states (goal at 333 Hz: p99 within 4 ms; at 1000 Hz: within 1.5 ms),
* the rate at which the slowest of the other readers gets states,
* processor time of server and control process, in percent of one core,
* the cost of the controller in the loop: an update that reads a new command, and one that does not.

A stream that the robot ends, because a tick of its loop came too late, is reported as not measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
import numpy as np
import psutil
import yaml
from ament_index_python.packages import get_package_share_directory

from benchmarks.support.figures import Figure, arguments, figure, note, report, single
from benchmarks.support.processes import peer, running
from benchmarks.support.program_runner import Running, isolated
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_joint_client import InactiveError, JointClient
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.address import socket_path
from humanoid_joint_client.latency import Quantiles
from humanoid_joint_client.outgoing import Outgoing
from humanoid_joint_client.rpc import stubs
from humanoid_joint_stream.command.executed_command import ExecutedCommand
from humanoid_joint_stream.controller import JointStreamController, JointStreamParameters
from humanoid_joint_stream.shared.records import SentCommand
from humanoid_joint_stream.shared.stream_file import StreamFile, Word

RATES = (333, 1000)  # [Hz] of the loop
READERS = (0, 4, 19)  # beside the client
COUNT = 14  # joints
SECONDS = 10.0


def main() -> int:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    seconds = 0.5 if options.quick else SECONDS
    found = in_the_loop(200 if options.quick else 20_000)
    with isolated():
        for rate in RATES[:1] if options.quick else RATES:
            found |= echo(rate, seconds)
            found |= robot(rate, seconds, READERS[:1] if options.quick else READERS)
    report("joint stream, 14 joints", found, options.json)
    return 0


def in_the_loop(ticks: int) -> dict[str, Figure]:
    """Time the controller's update."""
    ones = np.ones(COUNT)
    joints = JointSet(tuple(f"joint_{number}" for number in range(COUNT)))
    facts = RobotFacts(joints, JointLimits(-ones, ones, ones, ones), 1000.0)
    controller = JointStreamController()
    controller.on_configure(JointStreamParameters(stiffness=20.0, damping=2.0), facts)
    file = StreamFile.in_memory(controller.facts)
    controller.connect(file, None)
    state, command = JointState(COUNT, np.zeros((3, COUNT))), JointCommand(COUNT)
    controller.on_activate(state, command, 0.0)
    samples: dict[bool, list[float]] = {True: [], False: []}
    file.words[Word.ACTIVATION] = 1
    for tick in range(1, ticks):
        now, fresh = tick * 1_000_000, tick % 2 == 1
        file.words[Word.HEARTBEAT] = now
        if fresh:
            own = ExecutedCommand(np.full((5, COUNT), 0.1), now, now + 10**9, now, 10**7)
            file.commands.write(SentCommand(1, tick, np.inf, own).to_bytes())
        begin = time.perf_counter()
        controller.update(state, command, now * 1e-9, 0.001)
        samples[fresh].append(time.perf_counter() - begin)
    return {
        "update with a new command": figure(samples[True], "us", 1e6),
        "update without": figure(samples[False], "us", 1e6),
    }


def robot(rate: int, seconds: float, readers: tuple[int, ...]) -> dict[str, Figure]:
    """Measure a robot whose loop runs at `rate` [Hz]."""
    found: dict[str, Figure] = {}
    with TemporaryDirectory() as folder:
        file = _controllers(Path(folder), rate)
        words = ["up", "mock", "--full-mit", "--no-viewer", "--joint-stream", "--controllers", file]
        with _hc(*words) as up:
            up.wait_for("Prime is up")
            up.wait_for("joint stream of")
            for number in readers:
                for request in (["clear-fault"], ["mode", "damp"], ["mode", "standby", "--wait"]):
                    with _hc(*request) as asked:
                        asked.finish()
                with _readers(number) as others:
                    name = f"{rate} Hz, {number + 1} readers"
                    try:
                        found |= _client(up, name, seconds)
                    except InactiveError as error:  # a tick came more than three periods late
                        note(f"{name}: not measured: {error}")
                        continue
                    if others is not None:
                        slowest = [
                            int(line.split()[0]) for line in others.text().splitlines()[2:-1]
                        ]
                        found[f"{name}: slowest of the others"] = figure(slowest, "Hz", 1.0)
    return found


def _client(up: Running, name: str, seconds: float) -> dict[str, Figure]:
    programs = psutil.Process(up.process.pid).children(recursive=True)
    by_name = {
        label: next(it for it in programs if f"lib/{place} " in f"{' '.join(it.cmdline())} ")
        for label, place in (
            ("server", "humanoid_joint_stream/joint_stream"),
            ("control process", "humanoid_controllers/control"),
        )
    }
    with JointClient() as client, client.control() as control:
        states = client.states(decimation=1, keep=1000)
        pose = next(states).position
        used = {label: _used(it) for label, it in by_name.items()}
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            next(states)
            control.send(pose, horizon=0.9)  # other programs of this machine may delay it
        elapsed = time.monotonic() - begin
        used = {label: _used(it) - used[label] for label, it in by_name.items()}
        control.finish()
        latency = client.latency
    return {
        f"{name}: one way": _figure(latency.one_way),
        f"{name}: echo": _figure(latency.echo),
        f"{name}: state gap": _figure(latency.state_gap),
        **{
            f"{name}: {it}, CPU": single(100.0 * value / elapsed, "%") for it, value in used.items()
        },
    }


def echo(rate: int, seconds: float) -> dict[str, Figure]:
    """Measure a server that only echoes: an update in each period, answered at once."""
    sent: dict[int, int] = {}
    one_way, back = [], []
    with running(peer("grpc_echo")) as server:
        address = server.wait_for(r"unix:\S+")
        usage, outgoing = psutil.Process(server.process.pid), Outgoing()
        with grpc.insecure_channel(address) as channel:
            calls = stubs(channel)
            states = calls["StreamStates"](iter([pb.StatesRequest()]))
            end = calls["StreamCommands"].future(outgoing)
            zeros, used, begin = [0.1] * COUNT, _used(usage), time.monotonic()
            for key in count(1):
                due = begin + key / rate
                if due - begin > seconds:
                    break
                time.sleep(max(due - time.monotonic(), 0.0))
                sent[key] = time.monotonic_ns()
                own = pb.Update(position=zeros, velocity=zeros, load=zeros, user_command_key=key)
                outgoing.put(own)
                last = next(states).last_command
                now = time.monotonic_ns()
                one_way.append(last.received - sent[last.user_command_key])
                back.append(now - sent[last.user_command_key])
            used = _used(usage) - used
            states.cancel()
            outgoing.close()
            end.cancel()
    return {
        f"bare gRPC, {rate} Hz: one way": figure(one_way, "ms", 1e-6),
        f"bare gRPC, {rate} Hz: echo": figure(back, "ms", 1e-6),
        f"bare gRPC, {rate} Hz: server, CPU": single(100.0 * used / seconds, "%"),
    }


@contextmanager
def _readers(number: int) -> Iterator[Running | None]:
    if not number:
        yield None
        return
    words = str(socket_path()), str(number), "1"
    with running(peer("state_readers", *words)) as others:
        others.wait_for(r"\d+ \d+")  # the readers receive states
        yield others


def _hc(*words: object) -> AbstractContextManager[Running]:
    return running(["hc", *map(str, words)])


def _controllers(folder: Path, rate: int) -> Path:
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    content = yaml.safe_load((share / "config/prime_controllers.yaml").read_text("utf-8"))
    manager = content["controller_manager"]["ros__parameters"]
    manager["update_rate"] = rate
    del manager["rl_policy_controller"], content["rl_policy_controller"]  # of whole ticks only
    for pose in content["standby_controller"]["ros__parameters"]["poses"].values():
        pose["duration"] = 0.3
    path = folder / "prime_controllers.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _figure(found: Quantiles) -> Figure:
    return Figure(found.p50, found.p99, "ms")


if __name__ == "__main__":
    sys.exit(main())
