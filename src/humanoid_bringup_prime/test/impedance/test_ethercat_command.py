"""The `ethercat` command line as a transport, against a program that plays a ring of drives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from humanoid_bringup_prime.impedance.ethercat_command import EthercatCommand
from humanoid_bringup_prime.impedance.values import Batch, Reply, Wish
from humanoid_control_common.modes import Mode
from humanoid_devices_erob.sdo import SdoObject, SdoStatus

POSITION, VELOCITY, GATE = (0x2382, 1), (0x2381, 1), (0x2383, 0)


def write(slave: int, register: tuple[int, int], value: int) -> SdoObject:
    return SdoObject(slave, *register, value.to_bytes(4, "little", signed=True))


def sent(
    transport: EthercatCommand,
    objects: list[SdoObject],
    refusal: Callable[[], str] = str,
    *,
    reading: bool = False,
) -> Reply:
    """What becomes of a batch."""
    replies: list[Reply] = []
    answered = threading.Event()

    def done(reply: Reply) -> None:
        replies.append(reply)
        answered.set()

    batch = Batch(Wish(Mode.STANDBY, 1), not reading, tuple(objects), 0.0, 1.0)
    transport.send(batch, refusal, done)
    assert answered.wait(60.0)
    return replies[0]


def statuses(reply: Reply) -> dict[tuple[int, int], SdoStatus]:
    return {(r.object.slave, r.object.index): r.status for r in reply.results}


def test_a_write_is_the_documented_command_and_is_read_back(ring: Any) -> None:
    reply = sent(EthercatCommand([7]), [write(7, VELOCITY, 19)])
    assert ring.calls() == [
        ["-p", "7", "download", "--type", "int32", "0x2381", "1", "19"],
        ["-p", "7", "upload", "--type", "int32", "0x2381", "1"],
    ]
    assert [(r.object, r.status) for r in reply.results] == [
        (write(7, VELOCITY, 19), SdoStatus.DONE)
    ]


def test_order_is_kept_within_a_drive_and_every_drive_is_served(ring: Any) -> None:
    slaves = range(4)
    objects = [w for s in slaves for w in (write(s, VELOCITY, 19), write(s, POSITION, 515))]
    reply = sent(EthercatCommand(slaves), objects)
    assert set(statuses(reply).values()) == {SdoStatus.DONE}
    assert len(reply.results) == 8
    for slave in slaves:
        mine = [call[2] + call[5] for call in ring.calls() if call[1] == str(slave)]
        assert mine == ["download0x2381", "download0x2382", "upload0x2381", "upload0x2382"]


def test_reading_gives_signed_values(ring: Any) -> None:
    transport = EthercatCommand([0])
    sent(transport, [write(0, POSITION, -5)])
    reply = sent(transport, [SdoObject(0, *POSITION)], reading=True)
    assert reply.results[0].object == write(0, POSITION, -5)


def test_nothing_follows_a_write_that_failed(ring: Any) -> None:
    ring.mark(0, POSITION, "abort")
    both = [write(s, r, 0) for s in (0, 1) for r in (POSITION, VELOCITY)]
    reply = sent(EthercatCommand([0, 1]), both)
    assert statuses(reply) == {
        (0, 0x2382): SdoStatus.ABORTED,
        (0, 0x2381): SdoStatus.REFUSED,
        (1, 0x2382): SdoStatus.DONE,
        (1, 0x2381): SdoStatus.DONE,
    }
    messages = {r.message for r in reply.results if r.status is SdoStatus.ABORTED}
    assert messages == {"SDO transfer aborted with code 0x06020000"}
    assert [call[2] for call in ring.calls() if call[1] == "0"] == ["download"]


def test_a_value_that_the_drive_did_not_take_is_noticed(ring: Any) -> None:
    ring.mark(2, VELOCITY, "fixed")
    reply = sent(EthercatCommand([2]), [write(2, VELOCITY, 56)])
    assert reply.results[0].status is SdoStatus.DIFFERENT
    assert reply.results[0].object == write(2, VELOCITY, 0)


def test_permission_is_asked_before_every_object(ring: Any) -> None:
    answers = iter(["", "waiting for /prime/joint_states"])
    objects = [write(0, VELOCITY, 19), write(0, POSITION, 515)]
    reply = sent(EthercatCommand([0]), objects, lambda: next(answers, "asked too often"))
    assert [r.status for r in reply.results] == [SdoStatus.DONE, SdoStatus.REFUSED]
    assert reply.results[1].message == "waiting for /prime/joint_states"
    assert len(ring.calls()) == 1


def test_a_program_that_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    reply = sent(EthercatCommand([0]), [write(0, VELOCITY, 19)])
    assert reply.results[0].status is SdoStatus.ABORTED
    assert "ethercat" in reply.results[0].message


@pytest.mark.parametrize("output", ["", "no number"])
def test_an_answer_that_is_none_is_a_failure(ring: Any, tmp_path: Path, output: str) -> None:
    (tmp_path / "bin" / "ethercat").write_text(f"#!/bin/sh\necho {output}\n")
    reply = sent(EthercatCommand([0]), [SdoObject(0, *VELOCITY)], reading=True)
    assert reply.results[0].status is SdoStatus.ABORTED


def test_the_end_puts_factory_gains_in_force_again(ring: Any) -> None:
    transport = EthercatCommand([0, 1])
    sent(transport, [write(s, GATE, 1) for s in (0, 1)])
    transport.close(str)
    assert (ring.value(0, GATE), ring.value(1, GATE)) == (0, 0)


def test_the_end_stays_off_a_bus_that_is_not_up(ring: Any) -> None:
    EthercatCommand([0, 1]).close(lambda: "waiting for /prime/joint_states")
    assert ring.calls() == []


def test_the_whole_manager_arms_and_switches_through_it(ring: Any, make_bench: Any) -> None:
    """The ROS-free core on this transport, with time as it comes."""
    bench = make_bench(count=2)
    transport = EthercatCommand([0, 1])
    for mode in (Mode.DAMPING, Mode.STANDBY, Mode.DAMPING):
        bench.state(mode)
        while not bench.confirmed:
            bench.time += 0.01
            bench.manager.joints_seen(bench.names, [0.0, 0.0], bench.time)
            for batch in bench.manager.next_batches(bench.time):
                reply = sent(
                    transport,
                    list(batch.objects),
                    lambda batch=batch: bench.manager.refusal(batch, bench.time),
                    reading=not batch.write,
                )
                bench.manager.finished(batch, reply, bench.time)
        assert bench.time < 101.0, bench.summary.message
    transport.close(str)
    assert [ring.value(1, r) for r in (POSITION, VELOCITY, GATE)] == [0, 56, 0]
