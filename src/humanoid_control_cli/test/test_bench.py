"""The drives of a ring as `hc doctor` shows them."""

from humanoid_bringup.preflight.findings import Level
from humanoid_control_cli.sdo.bench import in_findings
from humanoid_devices_erob.bring_up.bench import DriveErrors


def test_an_error_of_the_past_is_told_from_a_present_one() -> None:
    (all_well,) = in_findings([DriveErrors()] * 3, "ecm0")
    assert (all_well.level, all_well.found) == (Level.OK, "3, none has an error")
    past = DriveErrors(history=(0x0012A000, 0x8500))
    (drives,) = in_findings([past, DriveErrors(), past], "ecm0")
    assert drives.level is Level.OK
    expected = "3, none has an error; earlier 0xA000 on drive 0, 2 (`hc decode 0xA000`)"
    assert drives.found == expected


def test_a_present_error_is_explained_beside_the_number_of_drives() -> None:
    errors = [DriveErrors(0x8500, (0x8500, 0xA000)), DriveErrors(), DriveErrors(failure="silent")]
    drives, faulty, silent = in_findings(errors, "ecm0")
    assert (drives.level, drives.found) == (Level.OK, "3, 1 without error")
    assert (faulty.subject, faulty.level) == ("drive 0", Level.BROKEN)
    assert faulty.found.startswith("0x8500: position error exceeds limit")
    assert "0x1003:2: 0xA000" in faulty.found
    assert faulty.remedy == "`hc decode 0x8500`"
    assert (silent.subject, silent.level) == ("drive 2", Level.BROKEN)
    assert "hc sdo read 2 0x603F" in silent.remedy
