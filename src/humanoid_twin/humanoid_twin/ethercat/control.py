"""The client of a ring's control channel."""

from typing import Any, ClassVar

from humanoid_twin.control.client import TimedControl, remote, remote_decoded
from humanoid_twin.errors import RingError, TwinError
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.log import LogLine


def _lines(rows: Any) -> list[LogLine]:
    return [(float(time), int(slave), str(kind), detail) for time, slave, kind, detail in rows]


class RingControl(TimedControl):
    """A connection to one ring: the commands of `RingCommands`.

    All methods raise RingError if the ring refuses, or is gone. Not for several threads at once.
    """

    process_name: ClassVar[str] = "ring"
    error: ClassVar[type[TwinError]] = RingError

    mailbox_delay = remote(RingCommands.mailbox_delay)
    drop = remote(RingCommands.drop)
    damage = remote(RingCommands.damage)
    late = remote(RingCommands.late)
    double = remote(RingCommands.double)
    overtake = remote(RingCommands.overtake)
    miscount = remote(RingCommands.miscount)
    drop_next = remote(RingCommands.drop_next)
    late_next = remote(RingCommands.late_next)
    cut = remote(RingCommands.cut)
    mend = remote(RingCommands.mend)
    power_off = remote(RingCommands.power_off)
    power_on = remote(RingCommands.power_on)
    power_cycle = remote(RingCommands.power_cycle)
    freeze_firmware = remote(RingCommands.freeze_firmware)
    drive_error = remote(RingCommands.drive_error)
    keep_mode = remote(RingCommands.keep_mode)
    weaken_battery = remote(RingCommands.weaken_battery)
    change_battery = remote(RingCommands.change_battery)
    emergency = remote(RingCommands.emergency)
    dc_off = remote(RingCommands.dc_off)
    swap = remote(RingCommands.swap)
    identity = remote(RingCommands.identity)
    set_joint = remote(RingCommands.set_joint)
    external_torque = remote(RingCommands.external_torque)
    drives = remote(RingCommands.drives)
    statistics = remote(RingCommands.statistics)
    log = remote_decoded(RingCommands.log, _lines)
