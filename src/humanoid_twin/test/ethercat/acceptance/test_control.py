"""The control channel: commands, refusals and reports."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from humanoid_twin.errors import RingError
from humanoid_twin.ethercat.control import RingControl

if TYPE_CHECKING:
    from src.humanoid_twin.test.ethercat.acceptance.conftest import SoemMaster


@pytest.fixture
def soem(make_soem: Callable[..., SoemMaster]) -> SoemMaster:
    """A master with two slaves in PREOP, on a stepped clock."""
    master = make_soem(2)
    master.find()
    return master


def test_stepped_time_passes_by_frames_and_by_command_only(soem):
    control = soem.ring.control
    before, frames = control.time(), control.statistics()["frames"]
    soem.slaves[0].sdo_read(0x1000, 0)
    sent = control.statistics()["frames"] - frames
    assert sent > 0
    assert control.time() == pytest.approx(before + sent * 10e-6, abs=1e-9)
    assert control.advance(1.5) == pytest.approx(before + sent * 10e-6 + 1.5, abs=1e-9)


def test_wall_time_cannot_be_advanced(make_soem):
    control = make_soem(1, clock="wall").ring.control
    with pytest.raises(RingError, match="stepped clock"):
        control.advance(1.0)
    assert control.time() < control.time()


REFUSALS = [
    (lambda control: control.power_off(2), "no slave 2, the ring has 0 to 1"),
    (lambda control: control.cut(5), "no slave 5"),
    (lambda control: control.drop(1.5), "probability 1.5"),
    (lambda control: control.mailbox_delay(-1.0), "delay -1.0"),
    (lambda control: control.late(1.0, float("inf")), "lateness is inf s"),
    (lambda control: control.late_next(1, float("nan")), "lateness is nan s"),
    (lambda control: control.late_next(-1, 0.1), "number of frames is -1"),
    (lambda control: control.drop_next(-1), "number of frames is -1"),
    (lambda control: control.drop_next(1.5), "number of frames is 1.5"),
    (lambda control: control.drive_error(0, 0), "error code is 0, expected a whole number from 1"),
    (lambda control: control.drive_error(0, 0x18500), "error code is 99584"),
    (lambda control: control.emergency(0, 0x10000), "emergency code is 65536"),
    (lambda control: control.keep_mode(0, 128), "mode is 128"),
    (lambda control: control.identity(0, -1, 1), "vendor is -1"),
    (lambda control: control.identity(0, 1, 1 << 32), "product is 4294967296"),
    (lambda control: control.set_joint(0, float("inf")), "position is inf"),
    (lambda control: control.set_joint(0, 0.0, 1e300), "velocity is 1e\\+300"),
    (lambda control: control.external_torque(0, float("nan")), "torque is nan"),
    (lambda control: control.advance(float("inf")), "time to advance by is inf s"),
    (lambda control: control.request("explode"), "no command 'explode'; there are advance"),
    (lambda control: control.request("execute", name="x", arguments={}), "no command 'execute'"),
    (lambda control: control.request("cut", behind=1), "TypeError"),
]


def test_a_command_that_cannot_be_is_refused_with_the_reason(soem):
    for ask, why in REFUSALS:  # of one ring: a start of a ring for each would be slow
        with pytest.raises(RingError, match=why):
            ask(soem.ring.control)
    assert soem.ring.control.statistics()["frames"] > 0


def test_lines_that_are_no_requests_are_answered_with_an_error(soem):
    path = soem.ring.control._path
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(path)
        raw.sendall(b"nonsense\n[1]\n{}\n" + b'{"command": "time"}\n')
        with raw.makefile("rb") as stream:
            replies = [json.loads(stream.readline()) for _ in range(4)]
    assert [list(reply) for reply in replies] == [["error"]] * 3 + [["result"]]


def test_several_clients_are_served_and_may_leave_at_any_time(soem):
    path = soem.ring.control._path
    with RingControl(path) as first, RingControl(path) as second:
        assert first.drives() == second.drives()
    with socket.socket(socket.AF_UNIX) as rude:
        rude.connect(path)
        rude.sendall(b'{"command": "drives"}\n' * 100)
    assert soem.ring.control.time() > 0


def test_no_control_channel_exists_without_a_ring(tmp_path):
    with pytest.raises(RingError, match="no ring listens"):
        RingControl(tmp_path / "nowhere")


def test_drop_command_loses_all_frames_until_it_is_reset(soem):
    soem.configure()
    soem.ring.control.drop(1.0)
    assert soem.exchange() < 0
    soem.ring.control.drop(0.0)
    assert soem.exchange() >= 0
    assert soem.ring.control.statistics()["lost_frames"] >= 1


def test_the_same_seed_loses_the_same_frames(make_soem):
    def found(seed: int) -> list[int]:
        master = make_soem(1, seed=seed)
        master.find()
        master.configure()
        master.ring.control.drop(0.5)
        counters = []
        for _ in range(20):
            frames = master.ring.control.statistics()["lost_frames"]
            master.soem.send_processdata()
            master.soem.receive_processdata(1000)
            counters.append(master.ring.control.statistics()["lost_frames"] - frames)
        return counters

    first = found(3)
    assert 0 < sum(first) < 20
    assert found(3) == first


def test_a_late_answer_comes_when_ring_time_has_passed(soem):
    control = soem.ring.control
    soem.configure()
    control.late_next(1, 0.005)
    soem.soem.send_processdata()
    assert soem.soem.receive_processdata(1000) < 0
    control.advance(0.006)
    assert soem.exchange() >= 0
    assert control.statistics()["lost_frames"] == 0


def test_a_frame_damaged_on_its_way_is_not_answered_and_the_next_one_is(soem):
    control = soem.ring.control
    soem.configure()
    before = soem.exchange()
    control.damage(1.0)
    assert soem.exchange() < 0
    control.damage(0.0)
    assert soem.exchange() == before
    assert control.statistics()["lost_frames"] >= 1


def test_answers_that_come_twice_or_in_another_order_are_sorted_out_by_the_master(soem):
    control = soem.ring.control
    soem.configure()
    before = soem.exchange()
    control.double(1.0)
    assert [soem.exchange() for _ in range(5)] == [before] * 5
    control.double(0.0)
    control.overtake(0.5)
    assert len({soem.exchange() for _ in range(20)}) > 1  # some wait for the next one
    control.overtake(0.0)
    assert [soem.exchange() for _ in range(3)][1:] == [before] * 2


def test_a_working_counter_can_be_one_too_low(soem):
    control = soem.ring.control
    soem.configure()
    soem.request(soem.pysoem.SAFEOP_STATE)
    before = soem.exchange()
    control.miscount(1.0)
    assert soem.exchange() == before - 1
    control.miscount(0.0)
    assert soem.exchange() == before


def test_frames_can_be_late_at_random(soem):
    control = soem.ring.control
    soem.configure()
    control.late(1.0, 0.005)
    soem.soem.send_processdata()
    assert soem.soem.receive_processdata(1000) < 0
    control.late(0.0, 0.0)
    control.advance(0.006)
    assert soem.exchange() >= 0


def test_drives_are_reported_with_joint_and_registers(soem):
    control = soem.ring.control
    control.set_joint(1, 1.0, -0.5)
    report = control.drives()[1]
    assert (report["joint_position"], report["joint_velocity"]) == (1.0, -0.5)
    control.advance(0.002)
    counts = control.drives()[1]["position"]
    assert counts == pytest.approx(524288 / 6.283185307, rel=0.01)
    assert (report["al_state"], report["gate"], report["statusword"]) == (2, 0, 592)


def test_a_load_moves_a_limp_joint(soem):
    control = soem.ring.control
    control.external_torque(0, 3.0)
    control.advance(0.5)
    reports = control.drives()
    assert reports[0]["joint_position"] > 0.1
    assert reports[1]["joint_position"] == 0.0


def test_a_hung_firmware_does_not_answer_its_mailbox(soem):
    soem.ring.control.freeze_firmware(1)
    soem.soem.sdo_read_timeout = 20_000
    with pytest.raises(soem.pysoem.WkcError):
        soem.slaves[1].sdo_read(0x1000, 0)
    soem.ring.control.freeze_firmware(1, frozen=False)
    assert len(soem.slaves[1].sdo_read(0x1000, 0)) == 4
    assert soem.ring.control.statistics()["mailbox_requests"][1] >= 1
