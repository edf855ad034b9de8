"""Only the control loop writes the objects that move a running drive, in every mode."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.mailbox.sdo import LONGEST, SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.operation.sdo_policy import MOST_OBJECTS, not_admitted
from humanoid_devices_erob.protocol.objects import GATE_SWITCH, POSITION_GAIN

FIRM = (Mode.STANDBY, Mode.LOCOMOTION, Mode.REMOTE)
GAIN = SdoObject(0, *POSITION_GAIN, b"\5\0\0\0")
CLOSING = SdoObject(0, *GATE_SWITCH, bytes(4))
OPENING = SdoObject(0, *GATE_SWITCH, b"\1\0\0\0")
MODE_CHANGE = SdoObject(0, 0x6060, 0, b"\3")


def refusals(*objects: SdoObject, mode: Mode = Mode.DAMPING, write: bool = True) -> list[str]:
    """Return the messages of a refused batch, one per object; empty: it may begin."""
    future = not_admitted(SdoBatch(objects, write=write, mode=int(mode)))
    if future is None:
        return []
    results = future.result(0)
    assert [result.object for result in results] == list(objects)
    assert {result.status for result in results} == {SdoStatus.REFUSED}
    return [result.message for result in results]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    "index", [0x6040, 0x6060, 0x6071, 0x607A, 0x60B0, 0x60B1, 0x60B2, 0x60C2, 0x60FF]
)
def test_only_the_control_loop_writes_objects_that_move_a_drive(mode: Mode, index: int) -> None:
    (message,) = refusals(SdoObject(0, index, 0, b"\0\0\0\0"), mode=mode)
    assert f"0x{index:04X} belongs to the control loop" in message


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    "index",
    [0x607B, 0x607C, 0x607D, 0x607E, 0x6089, 0x608F, 0x6093, 0x6097, 0x2242, 0x1010, 0x1011],
)
@pytest.mark.parametrize("subindex", [0, 1, 2])
def test_reference_and_memory_of_a_drive_in_operation_stay_as_they_are(
    mode: Mode, index: int, subindex: int
) -> None:
    (message,) = refusals(SdoObject(0, index, subindex, b"\0\0\0\0"), mode=mode)
    assert f"0x{index:04X}" in message
    assert "on a drive without a robot" in message
    assert refusals(SdoObject(0, index, subindex), mode=mode, write=False) == []


def test_a_read_request_with_data_is_refused_as_a_whole() -> None:
    assert len(refusals(OPENING, SdoObject(0, 0x6041, 0), write=False)) == 2


@pytest.mark.parametrize("index", [0x1600, 0x1A00, 0x1C00, 0x1C12, 0x1C13, 0x1C32, 0x1C33])
def test_set_up_of_the_process_data_is_not_written(index: int) -> None:
    (message,) = refusals(SdoObject(0, index, 1, b"\0\0"))
    assert "must not change while the ring runs" in message


@pytest.mark.parametrize("index", [0x15FF, 0x1C34, 0x2381, 0x607F, 0x6083, 0x6088, 0x6098])
def test_objects_that_move_no_drive_may_be_written(index: int) -> None:
    assert refusals(SdoObject(0, index, 1, b"\0\0"), mode=Mode.STANDBY) == []


@pytest.mark.parametrize("index", [0x607A, 0x6040, 0x1C12, 0x2383])
def test_every_object_may_be_read(index: int) -> None:
    assert refusals(SdoObject(0, index, 0), mode=Mode.STANDBY, write=False) == []


@pytest.mark.parametrize("mode", FIRM)
@pytest.mark.parametrize("value", [b"\0\0\0\0", b"\2\0\0\0", b"\0"])
def test_gate_is_not_closed_where_the_target_stands(mode: Mode, value: bytes) -> None:
    (message,) = refusals(SdoObject(0, *GATE_SWITCH, value), mode=mode)
    assert "stiff factory gains" in message
    assert "hc mode damp" in message


@pytest.mark.parametrize("mode", [Mode.ZERO_TORQUE, Mode.DAMPING])
def test_gate_may_be_closed_where_the_target_follows(mode: Mode) -> None:
    assert refusals(CLOSING, mode=mode) == []


@pytest.mark.parametrize("mode", Mode)
def test_gate_may_be_opened_in_every_mode(mode: Mode) -> None:
    assert refusals(OPENING, mode=mode) == []


def test_batch_with_a_forbidden_object_is_refused_as_a_whole() -> None:
    first, second, third = refusals(GAIN, MODE_CHANGE, OPENING)
    assert "belongs to the control loop" in second
    assert first == third == "not sent: slave 0 0x6060:00 of the same batch is refused"


@pytest.mark.parametrize("write", [True, False])
def test_batch_of_too_many_objects_is_refused(write: bool) -> None:
    target = GAIN if write else SdoObject(0, *POSITION_GAIN)
    assert refusals(*[target] * MOST_OBJECTS, write=write) == []
    messages = refusals(*[target] * (MOST_OBJECTS + 1), write=write)
    assert set(messages) == {"257 objects in one batch, expected at most 256"}


def test_object_that_is_too_long_is_refused() -> None:
    assert refusals(SdoObject(0, 0x2100, 0, bytes(LONGEST))) == []
    (message,) = refusals(SdoObject(0, 0x2100, 0, bytes(LONGEST + 1)))
    assert "1025 bytes" in message


def test_mode_change_under_load_never_reaches_the_drive(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.control.log()
    results = bench.write(MODE_CHANGE, SdoObject(1, *GATE_SWITCH, bytes(4)))
    assert {result.status for result in results} == {SdoStatus.REFUSED}
    bench.tick(3)
    assert [line for line in bench.control.log() if line[2] in ("request", "write")] == []
    assert bench.of_drives("gate") == [1, 1]


def test_full_batch_keeps_every_exchange_in_time(make_bench) -> None:
    bench = make_bench(4)
    bench.new_system(update_rate=200.0)
    bench.activate()
    bench.tick(10)
    keys = [(0x2381, 1), (0x2381, 2), (0x2382, 1), (0x2383, 0)]
    reads = [SdoObject(slave, *key) for slave in range(4) for key in keys] * 16
    assert len(reads) == MOST_OBJECTS
    future = bench.system.submit(SdoBatch(tuple(reads), write=False))
    late = []
    while not future.done():
        due = bench._due
        late.append(bench.time.clock() - due)
        bench.tick()
    assert {result.status for result in future.result()} == {SdoStatus.DONE}
    assert max(late) < 0.0005
    assert bench.faults() == []
