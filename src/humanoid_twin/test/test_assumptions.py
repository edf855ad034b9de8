"""Assumptions about the drives, chosen by name for a run."""

from itertools import pairwise

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_twin.assumptions import assume
from humanoid_twin.erob.parameters import ObjectAccess
from humanoid_twin.errors import TwinError


def test_each_assumption_changes_only_its_parameter():
    made = assume(["feed_forward=absent", "gain_bytes=2", "brake=yes", "error_limit=9"])
    assert (made.drive.feed_forward, made.drive.gain_bytes) == (ObjectAccess.ABSENT, 2)
    assert made.drive.brake is True
    assert made.slave.clocks.error_limit == 9
    assert made.drive.gear == assume([]).drive.gear


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ("colour=red", "no assumption 'colour', there are .*feed_forward"),
        ("feed_forward=maybe", "expected writable, read-only, kept, absent"),
        ("brake=1", "expected yes or no"),
        ("gain_bytes=two", "expected int"),
        ("factory=7", "no assumption 'factory'"),
    ],
)
def test_a_name_that_is_no_assumption_is_refused(choice, says):
    with pytest.raises(TwinError, match=says):
        assume([choice])


@pytest.mark.parametrize("choice", ["gain_bytes=3", "mailbox_bytes=16", "efficiency=2"])
def test_drive_that_can_not_be_is_refused(choice):
    with pytest.raises(ConfigError):
        assume([choice])


@pytest.mark.parametrize("length", [128, 512, 1024])
def test_buffers_of_a_slave_do_not_overlap(length):
    slave = assume([f"mailbox_bytes={length}"]).slave
    buffers = [slave.mailbox_out, slave.mailbox_in, slave.outputs, slave.inputs]
    assert [it.length for it in buffers] == [length, length, 8, 12]
    for before, after in pairwise(buffers):
        assert before.start + before.length * (3 if before.length == 8 else 1) <= after.start
