"""Drives with mailboxes of any size are brought up, made stiff, read and disabled."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject

INIT, OP = 1, 8
HEALTHY = 5687


def emergencies(bench: Any) -> int:
    (count,) = (
        int(status.values["emergency messages"])
        for status in bench.system.diagnose()
        if "emergency messages" in status.values
    )
    return count


@pytest.mark.parametrize("size", [128, 512, 1024])
def test_a_mailbox_of_any_size_serves_from_bring_up_to_exit(make_wire_bench, size: int) -> None:
    bench = make_wire_bench(3, assume={"mailbox_bytes": size}, mailbox_delay_ms=2.0)
    bench.activate()
    for layout in bench.system._master.mailbox_layouts():
        assert (layout.write_size, layout.read_size) == (size, size)
    assert bench.of_drives("al_state") == [OP] * 3
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    assert bench.of_drives("vel_reg") == [19] * 3
    assert bench.of_drives("pos_reg") == [515] * 3
    assert bench.of_drives("gate") == [1] * 3
    raised = 0
    while not emergencies(bench) and raised < 20:  # a frame that is late takes its message with it
        bench.control.emergency(1, 0x8400)
        raised += 1
        bench.finish(bench.system.submit(SdoBatch((SdoObject(1, 0x6041, 0),), write=False)))
    assert 1 <= emergencies(bench) <= raised
    assert bench.of_drives("statusword") == [HEALTHY] * 3
    assert bench.faults() == []
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 3
    assert bench.of_drives("al_state") == [INIT] * 3
    assert bench.faults() == []
