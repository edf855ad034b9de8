"""The place on the ring where frames are damaged: counters of ports, read beside process data."""

from __future__ import annotations

from humanoid_devices_erob.master.link_errors import RECENT

SLAVES = 3
DAMAGED = 0x0300  # frames, at port 0: a counter of 8 bits that stops at its end


def joints(bench) -> dict[str, object]:
    return {it.name: it for it in bench.system.diagnose() if it.name.startswith("joint: ")}


def test_lost_link_is_reported_at_both_of_its_ends(make_bench) -> None:
    bench = make_bench(SLAVES)
    bench.activate()
    bench.tick(51 * SLAVES)
    diagnoses = joints(bench)
    assert {diagnoses[f"joint: j{i}"].values["link errors port 0"] for i in range(SLAVES)} == {
        "0 damaged, 0 forwarded, 0 lost links"
    }
    bench.control.cut(0)
    bench.control.mend()
    bench.tick(51 * SLAVES)
    diagnoses = joints(bench)
    assert diagnoses["joint: j0"].values["link errors port 1"].endswith(" 1 lost links")
    assert diagnoses["joint: j1"].values["link errors port 0"].endswith(" 1 lost links")
    assert "bad link at port 1" in diagnoses["joint: j0"].message
    assert "bad link at port 0" in diagnoses["joint: j1"].message
    assert "bad link" not in diagnoses["joint: j2"].message


def test_damaged_frames_are_counted_and_no_count_is_lost(make_bench) -> None:
    bench = make_bench(SLAVES)
    bench.activate()
    bench.tick(2)
    bench.control.damage(0.05)
    bench.tick(200)
    bench.control.damage(0.0)
    bench.tick(51 * SLAVES)
    found = [bench.system._operation.links.of(slave) for slave in range(SLAVES)]
    damaged = [(errors[0].damaged, errors[1].damaged) for errors in found]
    assert all(first > 0 for first, _ in damaged)
    assert damaged[SLAVES - 1][1] == 0  # no slave is behind the last one
    # The ports of slaves 1 and 2 have forwarded the errors that a port of slave 0 has found.
    assert found[2][0].forwarded >= found[1][0].damaged


def test_bad_link_is_still_reported_when_its_counter_has_stopped(make_bench) -> None:
    bench = make_bench(SLAVES)
    bench.activate()
    bench.tick(51 * SLAVES)
    bench.time.ring.slaves[1].esc.put(DAMAGED, 1, 255)
    bench.tick(round((RECENT + SLAVES + 1.0) / bench.period))
    assert "bad link at port 0 (255 damaged" in joints(bench)["joint: j1"].message
