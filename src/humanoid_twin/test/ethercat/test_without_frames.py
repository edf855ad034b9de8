"""The work of slaves between two frames is done in its millisecond, without a frame."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from humanoid_devices_erob.protocol import coe, objects
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.ethercat.frame_faults import FrameFaults
from humanoid_twin.ethercat.parameters import SlaveParameters
from humanoid_twin.physics.plant import Plant

if TYPE_CHECKING:
    from src.humanoid_twin.test.ethercat.conftest import Master

WRITE_MODE = coe.ExpeditedDownload(objects.MODE, 0, b"\x09").encode()


@pytest.fixture
def safeop(master: Master) -> Master:
    """A master with slaves in SAFEOP, where process data does not overwrite objects."""
    master.safeop()
    return master


@pytest.fixture
def control(safeop: Master) -> RingCommands:
    """The commands of the control channel."""
    return RingCommands(safeop.ring, cast(Plant, None), FrameFaults(Random(0)))


def mode(master: Master) -> int:
    return master.drives[0].values[objects.MODE]


def test_an_object_is_written_after_the_delay(safeop, control):
    control.mailbox_delay(0.005)
    safeop.put_message(0, WRITE_MODE)
    safeop.wait(0.004)
    assert mode(safeop) == 0
    safeop.wait(0.001)
    assert mode(safeop) == 9


def test_a_request_that_would_wait_for_ever_is_answered_when_the_delay_is_gone(safeop, control):
    control.mailbox_delay(math.inf, 0)
    safeop.put_message(0, WRITE_MODE)
    safeop.wait(0.05)
    assert mode(safeop) == 0
    control.mailbox_delay(0.0)
    safeop.wait(0.001)
    assert mode(safeop) == 9


def test_a_firmware_that_hung_takes_its_request_up_again(safeop, control):
    control.mailbox_delay(0.003)
    safeop.put_message(0, WRITE_MODE)
    control.freeze_firmware(0)
    safeop.wait(0.02)
    assert mode(safeop) == 0
    control.freeze_firmware(0, frozen=False)
    safeop.wait(0.001)
    assert mode(safeop) == 9


def test_the_watchdog_expires_in_the_millisecond_after_its_time(master):
    master.operational()
    master.exchange()
    master.wait(0.100)  # its time at power-up
    assert [drive.losses for drive in master.drives] == [0, 0, 0]
    master.wait(0.001)
    assert [drive.losses for drive in master.drives] == [1, 1, 1]
    assert master.drives[0].states[-1] is AlState.SAFEOP


def test_a_frame_puts_the_watchdog_off(master):
    master.operational()
    for _ in range(4):
        master.exchange()
        master.wait(0.080)
    assert [drive.losses for drive in master.drives] == [0, 0, 0]
    master.wait(0.021)
    assert [drive.losses for drive in master.drives] == [1, 1, 1]


def test_a_transition_ends_after_its_time(new_master):
    master = new_master(1, SlaveParameters(transition_seconds=0.005))
    master.number_slaves()
    master.set_mailboxes(0)
    master.request(AlState.PREOP)
    master.wait(0.005)
    master.set_process_data(0)
    master.start_clock(0)
    master.request(AlState.SAFEOP)  # takes 2 ms
    master.wait(0.002)
    assert master.drives[0].states[-1] is AlState.PREOP
    master.wait(0.001)
    assert master.drives[0].states[-1] is AlState.SAFEOP


def test_without_sync0_inputs_are_sampled_in_each_millisecond(safeop, control):
    control.dc_off(0)
    safeop.cycle(3)
    safeop.wait(0.003)
    safeop.drives[0].values[objects.POSITION] = 55
    safeop.wait(0.001)
    assert safeop.exchange()[1][0][1] == 55
