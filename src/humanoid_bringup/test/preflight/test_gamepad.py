"""The check that the requested gamepad exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_bringup.preflight.findings import NotReadyError
from humanoid_bringup.preflight.gamepad import joystick_number, require_joystick
from humanoid_control_common.errors import ConfigError


def test_a_joystick_that_is_there_will_do(tmp_path: Path) -> None:
    (tmp_path / "js3").touch()
    require_joystick("js3", tmp_path)
    assert joystick_number("js3") == 3


@pytest.mark.parametrize(("present", "listed"), [((), "none"), (("js1", "js4"), "js1, js4")])
def test_missing_gamepad_is_reported_with_the_joysticks_present(
    present: tuple[str, ...], listed: str, tmp_path: Path
) -> None:
    for name in (*present, "event0", "mice"):
        (tmp_path / name).touch()
    with pytest.raises(NotReadyError, match=rf"js0: there is none; joysticks present: {listed} \("):
        require_joystick("js0", tmp_path)


@pytest.mark.parametrize("name", ["", "js", "event0", "/dev/input/js0", "js-1"])
def test_a_device_that_is_no_joystick_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="expected js0, js1"):
        joystick_number(name)
