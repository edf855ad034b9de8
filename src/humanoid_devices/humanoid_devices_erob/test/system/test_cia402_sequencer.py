"""The transitions of CiA 402, with the statuswords and controlwords of the actuator documents."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from humanoid_devices_erob.drive.cia402_sequencer import Cia402Sequencer, operation_enabled

ALL = np.array([True])


def walk(drive: Cia402Sequencer, words: list[int], last: int = 0) -> list[int]:
    controlword = np.array([last], dtype=np.uint16)
    sent = []
    for word in words:
        statusword = np.array([word], dtype=np.uint16)
        drive.step(statusword, operation_enabled(statusword), controlword)
        sent.append(int(controlword[0]))
    return sent


def test_drive_is_led_from_switch_on_disabled_to_operation() -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=False)
    assert walk(drive, [592, 561, 563, 5687, 5687]) == [6, 7, 15, 15, 15]


def test_sequencer_enables_no_drive_without_a_request() -> None:
    assert walk(Cia402Sequencer(1), [592, 561, 563, 4616]) == [0, 0, 6, 0]


def test_fault_is_reset_by_rising_edges_and_only_if_requested() -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=False)
    assert walk(drive, [4616] * 3) == [0, 0, 0]
    drive.enable(ALL, reset_faults=True)
    drive.hold = 1
    words = walk(drive, [4616] * 4)
    assert sorted(words) == [0, 0, 128, 128]
    assert words[0] != words[1] != words[2]
    assert walk(drive, [592, 561]) == [6, 7]


@pytest.mark.parametrize("hold", [2, 20, 40])
def test_drive_that_samples_every_nth_exchange_detects_the_edge(hold: int) -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=True)
    drive.hold = hold
    seen = walk(drive, [4616] * 6 * hold)[:: hold // 2]  # SYNC0 comes twice while a word is held
    assert (0, 128) in pairwise(seen)


def test_fault_after_the_reset_is_not_reset_again() -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=True)
    walk(drive, [4616, 592, 561, 563, 5687])
    assert walk(drive, [4616, 4616], last=15) == [0, 0]


def test_fault_of_a_drive_that_was_never_seen_enabled_is_not_reset_again() -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=True)
    walk(drive, [4616, 592, 561, 563])
    assert walk(drive, [4616] * 4, last=15) == [0] * 4


def test_reset_of_a_drive_that_was_disabled_since_is_dropped() -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=True)
    drive.disable(ALL)
    drive.enable(ALL, reset_faults=False)
    assert walk(drive, [4616] * 4) == [0] * 4


def test_disabled_drive_is_led_out_of_operation() -> None:
    drive = Cia402Sequencer(1)
    drive.enable(ALL, reset_faults=True)
    drive.disable(ALL)
    assert walk(drive, [5687, 563, 561, 592], last=15) == [6, 6, 0, 0]


def test_sequencer_steps_each_drive_independently() -> None:
    drives = Cia402Sequencer(3)
    drives.enable(np.array([True, True, False]), reset_faults=True)
    controlword = np.zeros(3, dtype=np.uint16)
    statusword = np.array([5687, 561, 5687], dtype=np.uint16)
    drives.step(statusword, operation_enabled(statusword), controlword)
    assert controlword.tolist() == [15, 7, 6]


@pytest.mark.parametrize(("word", "enabled"), [(5687, True), (0x0237, True), (4616, False)])
def test_operation_enabled_is_read_from_the_bits_of_the_state(word: int, enabled: bool) -> None:
    assert operation_enabled(np.array([word], dtype=np.uint16)).tolist() == [enabled]
    others = [520, 561, 563, 592, 7, 0x022F, 0x0267]  # the last two: of no state at all
    assert not operation_enabled(np.array(others, dtype=np.uint16)).any()
