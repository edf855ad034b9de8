"""The client of a CAN bus' control channel."""

from typing import TypeVar

from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.motors.motor import MotorReport
from humanoid_twin.can.motors.motor_board import BoardReport
from humanoid_twin.control.client import ControlClient, TimedControl, remote, remote_decoded

_Report = TypeVar("_Report", MotorReport, BoardReport)


def _by_id(reports: list[_Report]) -> dict[int, _Report]:
    """Return the reports by CAN id; of two motors with one id, that of the first."""
    found: dict[int, _Report] = {}
    for report in reports:
        found.setdefault(report["id"], report)
    return found


class CanMethods(ControlClient):
    """The commands of `CanCommands`, for a process with a CAN bus."""

    can_power_off = remote(CanCommands.power_off)
    can_power_on = remote(CanCommands.power_on)
    can_cut = remote(CanCommands.cut)
    can_mend = remote(CanCommands.mend)
    can_delay_enable = remote(CanCommands.delay_enable)
    can_freeze = remote(CanCommands.freeze)
    can_ignore_frames = remote(CanCommands.ignore_frames)
    can_overheat = remote(CanCommands.overheat)
    can_motor_fault = remote(CanCommands.motor_fault)
    can_drop = remote(CanCommands.drop)
    can_late = remote(CanCommands.late)
    can_hold_up = remote(CanCommands.hold_up)
    can_double = remote(CanCommands.double)
    can_corrupt_next = remote(CanCommands.corrupt_next)
    can_bus_off = remote(CanCommands.bus_off)
    can_bitrate = remote(CanCommands.bitrate)
    can_change_id = remote(CanCommands.change_id)
    can_duplicate = remote(CanCommands.duplicate)
    can_foreign = remote(CanCommands.foreign)
    can_unplug = remote(CanCommands.unplug)
    can_plug_in = remote(CanCommands.plug_in)
    can_flags = remote(CanCommands.flags)
    can_lose_bytes = remote(CanCommands.lose_bytes)
    can_insert_bytes = remote(CanCommands.insert_bytes)
    can_cut_bytes = remote(CanCommands.cut_bytes)
    can_leave_unanswered = remote(CanCommands.leave_unanswered)
    can_stray = remote(CanCommands.stray)
    can_drives = remote_decoded(CanCommands.drives, _by_id)
    can_boards = remote_decoded(CanCommands.boards, _by_id)
    can_statistics = remote(CanCommands.statistics)


class CanControl(TimedControl, CanMethods):
    """A connection to a CAN bus that runs alone."""
