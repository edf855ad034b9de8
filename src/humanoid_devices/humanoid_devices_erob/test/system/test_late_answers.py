"""Drives in operation whose mailbox answers after the timeout."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.protocol.objects import VELOCITY_GAIN


@pytest.mark.parametrize("delay", [0.15, 1.0, 2.0])
def test_read_value_is_that_of_the_drive_however_late_the_drive_answers(
    make_bench: Any, delay: float
) -> None:
    chance = Random(1)
    bench = make_bench(1)
    bench.activate()
    bench.tick(5)
    read = SdoBatch((SdoObject(0, *VELOCITY_GAIN),), write=False)
    found = []
    for value in range(1, 41):
        bench.control.mailbox_delay(chance.choice([delay, delay, 0.0]))
        bench.tick(chance.choice([0, 1, 10]))
        if chance.random() < 0.5:
            bench.write(SdoObject(0, *VELOCITY_GAIN, value.to_bytes(4, "little")))
            continue
        (result,) = bench.finish(bench.system.submit(read))
        if result.status is SdoStatus.DONE:
            found.append(int.from_bytes(result.object.data, "little"))
            assert found[-1] == bench.of_drives("vel_reg")[0]
    assert len(set(found)) > 2
    (bus,) = (it for it in bench.system.diagnose() if "late SDO answers" in it.values)
    assert int(bus.values["late SDO answers"]) > 0
    assert bench.of_drives("error") == [0]
