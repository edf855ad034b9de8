"""The conditions at the end hold after any sequence of events on the bus."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23]
SELECT_MODE = 0x01
QUICK = Timing(enable_timeout=0.3, enable_retry=0.14, disable_timeout=0.5)

happenings = st.sampled_from(
    [("unplug",), ("plug_in",), ("power_off", 22), ("power_on", 22), ("power_off",), ("power_on",),
     ("freeze", 23), ("freeze", 23, False), ("bus_off",), ("clear",), ("clear",)]
)  # fmt: skip
# Events, and the time [ms] for which the loop runs after them.
histories = st.lists(st.tuples(happenings, st.sampled_from([0, 3, 21, 70, 450])), max_size=8)


@pytest.fixture
def wrists(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig
) -> Callable[[], tuple[CanBench, CanRig]]:
    def make() -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        block = can_info(IDS, "TA40-50", channel=bench.address)
        return bench, can_rig(SitoSystem(QUICK, bench.host), block, bench.time)

    return make


def live(bench, rig, history) -> None:
    for (name, *arguments), milliseconds in history:
        if name == "clear":
            rig.system.reset_faults()
        else:
            bench.call(name, *arguments)
        rig.tick()
        rig.pause(milliseconds / 1000.0)
        rig.tick()


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=histories)
def test_exit_enables_no_motor_and_names_those_that_may_be_enabled(wrists, history) -> None:
    bench, rig = wrists()
    rig.activate()
    live(bench, rig, history)
    heard = bench.heard()
    named = ""
    try:
        rig.deactivate()
    except HardwareError as error:
        named = str(error)
    assert not [can_id for _, can_id, _ in heard if can_id & 0xFF == SELECT_MODE]
    for id_ in IDS:
        drive = bench.drive(id_)
        # A motor that hangs cannot be distinguished from one that obeys: both are silent
        # (docs/can.md).
        if drive["powered"] and not drive["frozen"] and drive["firmware"]["enabled"]:
            assert f"(id {id_})" in named


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=histories)
def test_cleared_fault_enables_all_motors_after_any_repaired_history(wrists, history) -> None:
    bench, rig = wrists()
    rig.activate()
    live(bench, rig, history)
    bench.call("plug_in")
    bench.call("power_on")
    for id_ in IDS:
        bench.call("freeze", id_, False)
    rig.run(2.0)  # all attempts have ended
    rig.system.reset_faults()
    assert rig.run(2.0).level is SafetyLevel.OK
    assert all(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)
