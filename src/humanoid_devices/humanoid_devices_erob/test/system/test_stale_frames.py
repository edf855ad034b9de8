"""A ring that stops for a while: its late answers are dropped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.testing import ring

SLAVES = 10
STATION_ADDRESS = 0x0010  # register; SOEM numbers the slaves from 0x1001


@pytest.fixture
def found() -> Iterator[tuple[EthercatMaster, Any]]:
    """A master that has found ten slaves, and their ring."""
    with ExitStack() as stack:
        try:
            virtual = stack.enter_context(ring(SLAVES))
        except VethError as error:
            pytest.skip(str(error))
        master = EthercatMaster()
        master.open(virtual.interface)
        try:
            assert len(master.scan()) == SLAVES
            yield master, virtual
        finally:
            master.close()


def _addresses(master: EthercatMaster, count: int) -> list[int | None]:
    answers = [master.read(i % SLAVES, STATION_ADDRESS, 2) for i in range(count)]
    return [None if data is None else int.from_bytes(data, "little") for data in answers]


# SOEM's frames have 16 indices: answers late by a multiple of 16 look correct.
@pytest.mark.parametrize("unanswered", [1, 16, 40, 48])
def test_late_answers_are_not_taken_for_those_of_other_slaves(found: Any, unanswered: int) -> None:
    master, virtual = found
    virtual.process.send_signal(signal.SIGSTOP)
    try:
        assert _addresses(master, unanswered) == [None] * unanswered
    finally:
        virtual.process.send_signal(signal.SIGCONT)
    virtual.control.time()  # the ring answers again; it has answered the earlier requests before

    answered = [
        (i % SLAVES, address)
        for i, address in enumerate(_addresses(master, 200))
        if address is not None
    ]

    assert len(answered) > 100
    assert {slave: address - 0x1001 for slave, address in answered} == {
        slave: slave for slave in range(SLAVES)
    }
    assert all(address == 0x1001 + slave for slave, address in answered)
