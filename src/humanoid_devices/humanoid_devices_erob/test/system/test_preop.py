"""A drive that doesn't reach PREOP is named, with what helps."""

from __future__ import annotations

import logging

import pytest

from humanoid_devices_erob.ring_errors import BringUpError, HungError


def test_drive_whose_firmware_hangs_is_named_with_advice_after_one_attempt(
    make_bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench = make_bench(3)
    bench.control.freeze_firmware(1)
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(HungError, match=r"^j1: stays in INIT .*switch its power off and on"),
    ):
        bench.system.on_activate(bench.state)
    assert [text for text in caplog.messages if "waiting for PREOP: slave 1 (j1): INIT" in text]
    assert not [text for text in caplog.messages if "once more from the start" in text]
    assert bench.system._master._master is None


def test_drive_that_does_not_answer_is_tried_again(make_bench, monkeypatch) -> None:
    bench = make_bench(2)
    scan = bench.system._master.scan

    def scanned_before_the_power_went() -> object:
        bench.control.power_on(1)
        found = scan()
        bench.control.power_off(1)
        return found

    monkeypatch.setattr(bench.system._master, "scan", scanned_before_the_power_went)
    with pytest.raises(BringUpError, match=r"3 times: not in PREOP: slave 1 \(j1\): does not"):
        bench.system.on_activate(bench.state)
