"""The engine against the virtual ring, through the real master: slaves in PREOP, mailbox only."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from humanoid_devices_erob.mailbox.mailbox_engine import MailboxEngine
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.mailbox.sdo_batch import SHORT_TIMEOUT, SdoBatches
from humanoid_devices_erob.master.master import AlState, EthercatMaster
from humanoid_devices_erob.protocol.abort import AbortCode

pytest.importorskip("humanoid_twin", reason="the virtual robot is not installed")
from humanoid_twin.testing import ring

SLAVES = 3


def network_rights() -> bool:
    """CAP_NET_ADMIN (12) and CAP_NET_RAW (13), <linux/capability.h>."""
    (line,) = [
        line for line in Path("/proc/self/status").read_text().splitlines() if "CapEff" in line
    ]
    return int(line.split()[1], 16) & 0x3000 == 0x3000


pytestmark = pytest.mark.skipif(
    not network_rights(), reason="a veth pair needs CAP_NET_ADMIN and CAP_NET_RAW"
)


class Bench:
    """A ring in PREOP, its time and the engine on it."""

    def __init__(self, control: Any, master: EthercatMaster) -> None:
        self.control = control
        self.engine = MailboxEngine(master, control.time, master.mailbox_layouts())
        self.batches = SdoBatches(self.engine, control.time, lambda: None)
        self.batches.timeout = SHORT_TIMEOUT

    def run(self, objects: list[SdoObject], write: bool) -> list[SdoResult]:
        future = self.batches.submit(SdoBatch(tuple(objects), write=write))
        while not future.done():
            if not self.batches.step() and not future.done():
                due = self.batches.next_due
                assert due < inf, "nothing is left to do"
                self.control.advance(max(1e-5, due - self.control.time()))
        return list(future.result())


@pytest.fixture(scope="module")
def ring_in_preop() -> Iterator[tuple[Any, EthercatMaster]]:
    with ring(slaves=SLAVES, mailbox_delay_ms=2.0, clock="stepped") as virtual:
        master = EthercatMaster()
        master.open(virtual.interface)
        try:
            assert len(master.scan()) == SLAVES
            for _ in range(1000):
                if all(status.state is AlState.PREOP for status in master.states()):
                    break
                virtual.control.advance(0.001)
            yield virtual.control, master
        finally:
            master.close()


@pytest.fixture
def bench(ring_in_preop: tuple[Any, EthercatMaster]) -> Iterator[Bench]:
    control, master = ring_in_preop
    yield Bench(control, master)
    control.mailbox_delay(0.002)
    control.drop(0.0)


def gains(value: int) -> list[SdoObject]:
    keys = [(0x2382, 1), (0x2381, 1), (0x2381, 2)]
    data = value.to_bytes(4, "little", signed=True)
    return [SdoObject(slave, *key, data) for slave in range(SLAVES) for key in keys]


def test_gains_are_written_and_read_back_from_every_slave(bench: Bench) -> None:
    for value in (19, 515, 0, 2**31 - 1):
        results = bench.run(gains(value), write=True)
        assert {(result.status, result.message) for result in results} == {(SdoStatus.DONE, "")}
    held = bench.control.drives()
    assert [(drive["pos_reg"], drive["vel_reg"]) for drive in held] == [(2**31 - 1,) * 2] * SLAVES


def test_batch_for_all_slaves_takes_the_time_of_one_slave(bench: Bench) -> None:
    bench.run(gains(1), write=True)
    begun = bench.control.time()
    bench.run(gains(2), write=True)
    took = bench.control.time() - begun  # ring time: six answers of 2 ms and some 10 us a frame
    # One slave after another would take 36 ms. A frame that this machine holds up costs 8 ms.
    assert 0.012 <= took < 0.03


def test_objects_of_every_kind_of_transfer_are_read(bench: Bench) -> None:
    vendor, name = bench.run([SdoObject(0, 0x1018, 1), SdoObject(1, 0x1008, 0)], write=False)
    assert vendor.object.data == b"oreZ"  # 0x5A65726F
    assert name.object.data.decode().startswith("eRob")
    assert {vendor.status, name.status} == {SdoStatus.DONE}


def test_an_object_that_does_not_exist_is_aborted(bench: Bench) -> None:
    (result,) = bench.run([SdoObject(1, 0x5555, 0)], write=False)
    assert (result.status, result.abort_code) == (SdoStatus.ABORTED, AbortCode.NO_OBJECT)


def test_a_mailbox_that_never_answers_delays_no_other_slave(bench: Bench) -> None:
    bench.control.mailbox_delay(float("inf"), slave=1)
    results = bench.run(gains(7), write=True)
    for result in results:
        alive = result.object.slave != 1
        assert (result.status is SdoStatus.DONE) == alive
    assert results[3].status is SdoStatus.TIMED_OUT


def test_lost_frames_cost_time_and_nothing_else(bench: Bench) -> None:
    bench.control.drop(0.01)
    for value in range(10):
        results = bench.run(gains(value), write=True)
        assert {result.status for result in results} == {SdoStatus.DONE}
