"""Every interface is generated; fields that recordings and other programs use are unchanged."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
LISTED = re.findall(r"(?:msg|srv)/\w+\.(?:msg|srv)", (PACKAGE / "CMakeLists.txt").read_text())


def generated(file: str) -> type:
    """Return the class of msg/Name.msg or srv/Name.srv."""
    kind, name = file.split("/")
    module = importlib.import_module(f"humanoid_control_msgs.{kind}")
    return getattr(module, Path(name).stem)


def test_every_file_is_listed() -> None:
    files = [*PACKAGE.glob("msg/*.msg"), *PACKAGE.glob("srv/*.srv")]
    assert files
    assert sorted(str(file.relative_to(PACKAGE)) for file in files) == sorted(LISTED)


@pytest.mark.parametrize("file", [file for file in LISTED if file.startswith("msg")])
def test_a_message_can_be_made(file: str) -> None:
    message = generated(file)()
    assert message.get_fields_and_field_types()


@pytest.mark.parametrize("file", [file for file in LISTED if file.startswith("srv")])
def test_every_service_has_a_request_and_a_response(file: str) -> None:
    service = generated(file)
    assert service.Request().get_fields_and_field_types() is not None  # it may be empty
    assert service.Response().get_fields_and_field_types()


def test_the_fields_of_a_control_mode_keep_their_order() -> None:
    fields = list(generated("msg/ControlMode.msg").get_fields_and_field_types())
    assert fields == [
        "header",
        "mode",
        "controller_name",
        "status_message",
        "switch_number",
        "reason_codes",
    ]


def test_the_numbers_of_the_modes_stay() -> None:
    names = ["ZERO_TORQUE", "DAMPING", "STANDBY", "LOCOMOTION", "REMOTE"]
    assert [getattr(generated("msg/ControlMode.msg"), name) for name in names] == [0, 1, 2, 3, 4]
