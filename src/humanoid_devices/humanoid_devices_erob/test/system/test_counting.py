"""The counters of the ring in the tick records."""

from __future__ import annotations

from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT


def test_losses_and_statuswords_are_counted_by_name(make_any_bench) -> None:
    bench = make_any_bench(3)
    names = bench.system.counter_names
    assert "bus_counts" in HARDWARE_CONTRACT.taken_on(type(bench.system), "")
    assert names == (
        "lost exchanges",
        "working counter",
        *(f"statusword of j{i}" for i in range(3)),
    )
    assert list(bench.system.bus_counts()) == [0] * 5, "before the ring is up"
    bench.activate()
    bench.tick(5)
    counted = dict(zip(names, bench.system.bus_counts(), strict=True))
    assert counted["working counter"] == 9
    assert [counted[name] & 0x6F for name in names[2:]] == [0x27] * 3, "operation enabled"
