"""Single transfers and their errors, with a mailbox on an injected clock."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_devices_erob.mailbox.mailbox_channel import MOST_TIMEOUTS
from humanoid_devices_erob.mailbox.sdo import LONGEST, SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.mailbox.sdo_batch import SHORT_TIMEOUT
from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.abort import AbortCode

GAIN = (0x2381, 1)
OTHER = (0x2382, 1)
VALUE = bytes.fromhex("13000000")


def gain(slave: int = 0, data: bytes = b"") -> SdoObject:
    return SdoObject(slave, *GAIN, data)


@pytest.mark.parametrize("size", [1, 2, 4, 5, 112, 113, 119, 120, 231, 232, 600])
def test_an_object_of_any_size_is_written_and_read(make_world, size: int) -> None:
    world = make_world(1)
    data = bytes(random.Random(size).randbytes(size))
    (result,) = world.write([gain(data=data)])
    assert result.status is SdoStatus.DONE
    assert result.object.data == data
    assert world.drives[0].objects[GAIN] == data


def test_a_transfer_takes_one_datagram_to_ask_and_one_to_fetch(make_world) -> None:
    world = make_world(1, delay=0.0)
    world.drives[0].objects[GAIN] = VALUE
    (result,) = world.read([gain()])
    assert result.object.data == VALUE
    assert world.bus.datagrams == [2]


def test_a_slow_slave_is_not_hammered(make_world) -> None:
    world = make_world(1, delay=0.050)
    world.drives[0].objects[GAIN] = VALUE
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.DONE
    # 50 ms have room for 1000 datagrams; an answer is detected late by at most 1/32 of its delay.
    assert world.bus.datagrams[0] < 250


def test_a_slave_that_was_slow_is_soon_asked_as_early_as_it_answers(make_world) -> None:
    """Lost frames make a slave look slow: its gains must not be written slowly for long."""
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    for delay in (0.009, 0.03, 0.09):
        drive.delay = delay
        world.read([gain()])
    drive.delay, begun = 0.002, world.clock()
    for _ in range(11):
        world.read([gain()])
    assert world.clock() - begun < 0.65
    begun = world.clock()
    world.read([gain()])
    assert world.clock() - begun < 0.003


def test_a_slave_is_asked_when_it_answers_and_seldom_before(make_world) -> None:
    world = make_world(1, delay=0.002)
    world.drives[0].objects[GAIN] = VALUE
    for _ in range(20):
        world.read([gain()])
    before = world.bus.datagrams[0]
    for _ in range(100):
        world.read([gain()])
    assert world.bus.datagrams[0] - before < 3.0 * 100  # one asks, one fetches


def test_an_abort_is_reported_with_its_code(make_world) -> None:
    world = make_world(1)
    world.drives[0].aborts[GAIN] = 0x06020000
    (result,) = world.read([gain()])
    assert (result.status, result.abort_code) == (SdoStatus.ABORTED, 0x06020000)
    assert "object does not exist" in result.message


def test_a_slave_that_never_answers_times_out_and_the_others_do_not_wait(make_world) -> None:
    world = make_world(3)
    world.drives[1].silent = True
    for drive in world.drives:
        drive.objects[GAIN] = VALUE
    begun = world.clock()
    results = world.read([gain(slave) for slave in range(3)])
    assert [result.status for result in results] == [
        SdoStatus.DONE,
        SdoStatus.TIMED_OUT,
        SdoStatus.DONE,
    ]
    assert "no answer within 100 ms" in results[1].message
    assert world.clock() - begun == pytest.approx(0.100, abs=0.002)
    assert all(time - begun < 0.005 for time, _ in world.drives[2].served)


def test_a_slave_that_cannot_be_reached_times_out(make_world) -> None:
    world = make_world(1)
    world.bus.loses_request = lambda: True
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.TIMED_OUT


@pytest.mark.parametrize("ends", ["mode", "time"])
def test_a_write_is_not_sent_again_once_its_permission_has_ended(make_world, ends: str) -> None:
    """The mailbox is full for 60 ms: messages sent until then may or may not have arrived."""
    world = make_world(1)
    drive, begun = world.drives[0], world.clock()
    drive.full_until = begun + 0.060
    drive.objects[GAIN] = bytes(4)
    if ends == "mode":
        late = begun + 0.005
        world.batches.refusal = lambda _, batch: (
            "another mode" if batch.write and world.clock() > late else ""
        )
    first, second = world.write(
        [gain(data=VALUE), SdoObject(0, *OTHER, VALUE)], valid_until=begun + 0.020
    )
    assert first.status is SdoStatus.TIMED_OUT
    assert "another mode" in first.message or "its permission ended" in first.message
    assert second.status is SdoStatus.REFUSED
    assert world.clock() - begun < (0.010 if ends == "mode" else 0.030)
    world.clock.now = begun + 0.2
    assert not world.batches.step()
    assert drive.served == []


def test_a_long_write_is_not_continued_once_its_permission_has_ended(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = bytes(4)
    world.batches.refusal = lambda _, batch: "another mode" if batch.write and drive.served else ""
    (result,) = world.write([gain(data=bytes(600))])
    assert result.status is SdoStatus.TIMED_OUT
    assert len(drive.served) == 1
    assert drive.objects[GAIN] == bytes(4)


def test_a_master_that_was_held_up_still_finds_the_answers(make_world) -> None:
    world = make_world(3)
    for drive in world.drives:
        drive.objects[GAIN] = VALUE
    future = world.batches.submit(SdoBatch(tuple(gain(it) for it in range(3)), write=False))
    for _ in range(3):
        assert world.batches.step()
    world.drives[1].post(coe.Emergency(0x8500).encode())
    world.clock.now += 1.0
    assert [result.object.data for result in world.run(future)] == [VALUE] * 3


def test_a_slave_that_sends_only_emergencies_times_out_all_the_same(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.silent = True
    read = drive.read

    def babbling(address: int, length: int) -> bytes | None:
        drive.post(coe.Emergency(0x8500).encode())
        return read(address, length)

    drive.read = babbling
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.TIMED_OUT


def test_a_lost_request_is_sent_again(make_world) -> None:
    world = make_world(1)
    losses = [True]
    world.bus.loses_request = lambda: bool(losses) and losses.pop()
    assert world.write([gain(data=VALUE)])[0].status is SdoStatus.DONE


def test_a_request_whose_receipt_was_lost_is_not_served_twice(make_world) -> None:
    world = make_world(1)
    world.write([gain(data=VALUE)])  # the first request has counter 0, which is never a repetition
    losses = [True]
    world.bus.loses_reply = lambda: bool(losses) and losses.pop()
    world.drives[0].served.clear()
    assert world.write([gain(data=b"\x14\0\0\0")])[0].status is SdoStatus.DONE
    writes = [it for _, it in world.drives[0].served if isinstance(it, coe.ExpeditedDownload)]
    assert len(writes) == 1


def test_a_lost_answer_is_requested_again(make_world) -> None:
    world = make_world(1, delay=0.0)
    world.drives[0].objects[GAIN] = VALUE
    losses = [True, False]  # the request arrives, its answer does not
    world.bus.loses_reply = lambda: bool(losses) and losses.pop()
    (result,) = world.read([gain()])
    assert (result.status, result.object.data) == (SdoStatus.DONE, VALUE)
    assert len(world.drives[0].served) == 1
    assert world.drives[0].activate == 0x03  # the repeat request was toggled, SM1 stayed active


def test_a_lost_repeat_request_is_made_again(make_world) -> None:
    world = make_world(1, delay=0.0)
    world.drives[0].objects[GAIN] = VALUE
    reads = iter([False, True])  # of the mailbox: the answer to the request is lost
    toggles = iter([True])  # the first toggle does not arrive
    drive = world.drives[0]
    write = drive.write
    drive.write = lambda address, data: (
        False if address == 0x080E and next(toggles, False) else write(address, data)
    )
    world.bus.loses_reply = lambda: next(reads, False)
    (result,) = world.read([gain()])
    assert (result.status, result.object.data) == (SdoStatus.DONE, VALUE)


def test_a_repeated_answer_to_the_request_before_is_not_taken_for_the_answer(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    world.read([gain()])
    drive.objects[GAIN] = b"\x99\0\0\0"
    drive.delay = 0.040  # so slow that the answer counts as lost: SM1 repeats the old one
    (result,) = world.read([gain()])
    assert drive.repeats > 0
    assert result.object.data == b"\x99\0\0\0"


def test_an_answer_that_comes_after_its_time_is_not_taken_for_the_next_one(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects.update({GAIN: VALUE, OTHER: b"\x03\x02\0\0"})
    drive.delay = 0.120
    results = world.read([gain(), SdoObject(0, *OTHER)])
    assert results[0].status is SdoStatus.TIMED_OUT
    assert (results[1].status, results[1].object.data) == (SdoStatus.TIMED_OUT, b"")
    drive.delay = 0.001
    results = world.read([gain(), SdoObject(0, *OTHER)])
    assert [result.object.data for result in results] == [VALUE, b"\x03\x02\0\0"]


@pytest.mark.parametrize("delay", [0.15, 1.0, 2.0])
def test_an_old_value_that_comes_late_is_not_taken_for_the_present_one(
    make_world, delay: float
) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    drive.delay = delay
    begun = world.clock()
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.TIMED_OUT
    drive.objects[GAIN] = b"\x99\0\0\0"
    drive.delay = 0.002
    while result.status is not SdoStatus.DONE:
        assert result.status is SdoStatus.TIMED_OUT
        assert world.clock() < begun + delay + 0.2
        world.clock.now += 0.02
        (result,) = world.read([gain()])
    assert result.object.data == b"\x99\0\0\0"
    assert world.engine.late_answers == 1


def test_an_old_value_that_lies_in_the_mailbox_for_long_is_not_taken_for_the_present_one(
    make_world,
) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    drive.delay = 1.0
    assert world.read([gain()])[0].status is SdoStatus.TIMED_OUT
    drive.objects[GAIN] = b"\x99\0\0\0"
    drive.delay = 0.002
    world.clock.now += 60.0
    (result,) = world.read([gain()])
    assert (result.status, result.object.data) == (SdoStatus.DONE, b"\x99\0\0\0")


def test_an_abort_that_comes_late_is_not_taken_for_an_answer(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    drive.aborts[GAIN] = 0x08000021
    drive.delay = 0.12
    assert world.read([gain()])[0].status is SdoStatus.TIMED_OUT
    drive.aborts.clear()
    drive.delay = 0.002
    (result,) = world.read([gain()])
    assert (result.status, result.object.data) == (SdoStatus.DONE, VALUE)
    assert world.engine.late_answers == 1


def test_an_answer_that_never_comes_holds_up_its_object_for_a_while_and_no_other(
    make_world,
) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects.update({GAIN: VALUE, OTHER: VALUE})
    drive.silent = True
    assert world.read([gain()])[0].status is SdoStatus.TIMED_OUT
    drive.silent = False
    begun = world.clock()
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.TIMED_OUT
    assert "not sent" in result.message
    assert drive.served == []
    # An answer to a later request shows that it is lost.
    results = world.read([SdoObject(0, *OTHER), gain()])
    assert [result.status for result in results] == [SdoStatus.DONE] * 2
    assert world.clock() - begun < 0.13

    drive.silent = True
    assert world.read([gain()])[0].status is SdoStatus.TIMED_OUT
    drive.silent = False
    begun = world.clock()
    while world.read([gain()])[0].status is not SdoStatus.DONE:
        assert world.clock() < begun + 3.2
    assert world.engine.late_answers == 0


def test_a_write_is_not_held_up_and_what_it_did_is_read_back_behind_it(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    drive.delay = 0.12
    assert world.write([gain(data=b"\x07\0\0\0")])[0].status is SdoStatus.TIMED_OUT
    assert world.read([gain()])[0].status is SdoStatus.TIMED_OUT
    drive.delay = 0.002
    (result,) = world.write([gain(data=b"\x08\0\0\0")])
    assert (result.status, result.object.data) == (SdoStatus.DONE, b"\x08\0\0\0")
    assert drive.objects[GAIN] == b"\x08\0\0\0"


def test_engine_waits_for_no_late_answer_after_a_reset(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    drive.silent = True
    world.read([gain()])
    drive.silent = False
    world.engine.reset(0)
    assert world.read([gain()])[0].status is SdoStatus.DONE


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_late_answer_never_makes_an_old_value_the_result(make_world, seed: int) -> None:
    chance = random.Random(seed)
    world = make_world(1)
    drive = world.drives[0]
    drive.objects.update({GAIN: bytes(4), OTHER: bytes(4)})
    for number in range(1, 25):
        drive.delay = chance.choice([0.002, 0.002, 0.15, 1.0, 2.0])
        world.clock.now += chance.choice([0.0, 0.01, 0.5])
        key = chance.choice([GAIN, OTHER])
        if chance.random() < 0.5:
            (result,) = world.write([SdoObject(0, *key, bytes([number, 0, 0, 0]))])
        else:
            (result,) = world.read([SdoObject(0, *key)])
        if result.status is SdoStatus.DONE:
            assert result.object.data == drive.objects[key]


def test_an_emergency_is_delivered_and_the_answer_behind_it_found(make_world) -> None:
    world = make_world(2)
    drive = world.drives[1]
    drive.objects[GAIN] = VALUE
    drive.post(coe.Emergency(0xA000, 1).encode())
    (result,) = world.read([gain(1)])
    assert (result.status, result.object.data) == (SdoStatus.DONE, VALUE)
    assert world.emergencies == [(1, coe.Emergency(0xA000, 1))]


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b"", 3),
        (b"\x00\x30\x43", 3),
        (bytes.fromhex("003060 8123 01 00000000"), 3),  # answers a download
        (bytes.fromhex("003043 8223 01 13000000"), 3),  # another object
        (bytes.fromhex("003000 01020304050607"), 3),  # an unrequested segment
        (bytes.fromhex("0030ff 8123 01 13000000"), 3),
        (bytes.fromhex("01000500"), 0),  # mailbox error
        (b"anything", 2),
    ],
)
def test_message_that_does_not_answer_the_request_is_ignored(
    make_world, payload: bytes, kind: int
) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = VALUE
    drive.post(payload, kind)
    (result,) = world.read([gain()])
    assert (result.status, result.object.data) == (SdoStatus.DONE, VALUE)


def test_a_malformed_answer_is_named_when_nothing_better_comes(make_world) -> None:
    world = make_world(1)
    world.drives[0].silent = True
    world.drives[0].post(b"\x00\x30\xff\x81\x23\x01\x13\x00\x00\x00")
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.TIMED_OUT
    assert "malformed" in result.message
    assert "0xFF" in result.message


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ("01000200", "rejected a message: mailbox error 0x0002: UNSUPPORTED_PROTOCOL"),
        ("01007700", "rejected a message: mailbox error 0x0077"),
        ("02000200", "malformed: not a mailbox error reply: 02 00 02 00"),
    ],
)
def test_a_mailbox_error_is_named_when_nothing_better_comes(
    make_world, payload: str, text: str
) -> None:
    world = make_world(1)
    world.drives[0].silent = True
    world.drives[0].post(bytes.fromhex(payload), 0)
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.TIMED_OUT
    assert result.message.endswith(text)


def test_a_length_that_a_mailbox_cannot_hold_is_malformed(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.silent = True
    drive.outbox.append((0.0, b"\xff\xff\0\0\0\x03".ljust(128, b"\0")))
    assert "malformed" in world.read([gain()])[0].message


@pytest.mark.parametrize("sent", [40, 300])
def test_a_segmented_value_of_another_length_than_announced_is_refused(
    make_world, sent: int
) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = bytes(200)
    upload = drive._upload

    def lying(key: tuple[int, int]) -> coe.Response:
        answer = upload(key)
        drive.reading = bytes(sent)
        return answer

    drive._upload = lying
    (result,) = world.read([gain()])
    assert (result.status, result.abort_code) == (SdoStatus.ABORTED, AbortCode.LENGTH)
    assert "announced 200 bytes" in result.message


@pytest.mark.parametrize(
    ("piece", "status", "most"),
    [(b"", SdoStatus.ABORTED, 0.01), (b"\0", SdoStatus.TIMED_OUT, MOST_TIMEOUTS * SHORT_TIMEOUT)],
)
def test_a_drive_that_never_ends_its_value_does_not_hold_the_batch_of_the_others(
    make_world, piece: bytes, status: SdoStatus, most: float
) -> None:
    world = make_world(2)
    endless, well = world.drives
    endless.objects[GAIN], well.objects[GAIN] = bytes(LONGEST), VALUE
    endless.delay = 0.002 if not piece else 0.9 * SHORT_TIMEOUT
    answer = endless._answer

    def dripping(request: coe.Request) -> coe.Response:
        if isinstance(request, coe.SegmentUploadRequest):
            return coe.SegmentUpload(request.toggle, False, piece)
        return answer(request)

    endless._answer = dripping
    begun = world.clock()
    results = world.read([gain(0), gain(1)])
    assert [result.status for result in results] == [status, SdoStatus.DONE]
    assert world.clock() - begun <= most + 0.01


def test_a_value_longer_than_an_answer_can_carry_is_refused(make_world) -> None:
    world = make_world(1)
    world.drives[0].objects[GAIN] = bytes(LONGEST + 1)
    (result,) = world.read([gain()])
    assert result.status is SdoStatus.ABORTED
    assert "announces 1025 bytes, expected at most 1024" in result.message
    world.drives[0].objects[GAIN] = bytes(LONGEST)
    (result,) = world.read([gain()])
    assert result.object.data == bytes(LONGEST)


def test_a_segment_that_comes_twice_is_used_once(make_world) -> None:
    world = make_world(1)
    drive = world.drives[0]
    drive.objects[GAIN] = bytes(range(250))
    answer = drive._answer

    def twice(request: coe.Request) -> coe.Response:
        response = answer(request)
        if isinstance(response, coe.SegmentUpload) and not response.last:
            drive.post(response.encode())
        return response

    drive._answer = twice
    (result,) = world.read([gain()])
    assert (result.status, result.object.data) == (SdoStatus.DONE, bytes(range(250)))


def test_counters_begin_anew_after_a_reset(make_world) -> None:
    world = make_world(1)
    counters = []
    drive = world.drives[0]
    write = drive.write

    def noting(address: int, data: bytes) -> bool:
        counters.append(data[5] >> 4)
        return write(address, data)

    drive.write = noting
    drive.objects[GAIN] = VALUE
    world.read([gain()] * 9)
    world.engine.reset(0)
    world.read([gain()] * 2)
    assert counters == [0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 1]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), loss=st.floats(0, 0.3))
def test_lost_frames_never_make_a_wrong_value_the_result(
    make_world, seed: int, loss: float
) -> None:
    chance = random.Random(seed)
    world = make_world(3)
    world.bus.loses_request = lambda: chance.random() < loss
    world.bus.loses_reply = lambda: chance.random() < loss
    for number in range(6):
        values = {slave: bytes([number, slave, 0, 0]) for slave in range(3)}
        results = world.write([gain(slave, data) for slave, data in values.items()])
        for slave, result in enumerate(results):
            assert result.status in (SdoStatus.DONE, SdoStatus.TIMED_OUT)
            if result.status is SdoStatus.DONE:
                assert world.drives[slave].objects[GAIN] == values[slave]
                assert result.object.data == values[slave]
        if loss < 0.02:
            assert all(result.status is SdoStatus.DONE for result in results)
