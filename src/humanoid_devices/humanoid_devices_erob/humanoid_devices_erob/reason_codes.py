"""Reason codes of the EtherCAT ring and its drives, and the codes of what drives report."""

from collections.abc import Iterator, Sequence
from typing import Final

from humanoid_control_common.rules.reasons import CodeTable, ReasonCode
from humanoid_devices_erob.drive.error_codes import ERROR_CODES
from humanoid_devices_erob.protocol.cia402 import DriveState, StatusBit, decode_state

CODES: Final = CodeTable("EtherCAT")

_CLEAR: Final = "then `hc clear-fault`"

# By the error code of the drive (0x603F).
DRIVE_ERRORS: Final = {
    code: CODES.add(
        f"DRIVE_ERROR_{code:04X}",
        f"Error 0x{code:04X} of a drive: {error.text}. {error.cause[0].upper()}{error.cause[1:]}.",
        f"{error.fix[0].upper()}{error.fix[1:]} (`hc clear-fault`).",
    )
    for code, error in ERROR_CODES.items()
}
DRIVE_ERROR_OTHER: Final = CODES.add(
    "DRIVE_ERROR_OTHER",
    "A drive reports an error that the actuator documents do not name; the message has its code.",
    f"`hc decode` tells what CiA 402 says of the code. Remove the cause, {_CLEAR}.",
)
DRIVE_ERROR_UNREAD: Final = CODES.add(
    "DRIVE_ERROR_UNREAD",
    "The error of a drive in fault could not be read; on Prime it is nearly always clocks or "
    "communication.",
    "The message has the command that reads it as soon as the drive answers, and `hc decode` "
    f"explains it. Remove the cause, {_CLEAR}.",
)
DRIVE_FAULT: Final = CODES.add(
    "DRIVE_FAULT",
    "The drive is in fault (bit 3 of its statusword) and out of operation.",
    "Its error (object 0x603F, in its line of `hc status`) has the cause: `hc decode` explains it. "
    f"Remove the cause, {_CLEAR}.",
)
TARGET_IGNORED: Final = CODES.add(
    "TARGET_IGNORED",
    "The drive ignores the target position: bit 12 of its statusword is not set.",
    f"As for DRIVE_FAULT. If it stays: switch the drive off and on, start again, {_CLEAR}.",
)
DRIVE_DISABLED: Final = CODES.add(
    "DRIVE_DISABLED",
    "The drive is out of operation without an error: it was restarted, or left OP.",
    "See what the AL status and the working counter say; `hc clear-fault` leads it back.",
)
DRIVE_WARNING: Final = CODES.add(
    "DRIVE_WARNING",
    "The drive's statusword warns, or shows an active limit.",
    "See the message; `hc decode` explains the statusword. Less load, if it limits.",
)
DRIVE_NOT_READY: Final = CODES.add(
    "DRIVE_NOT_READY",
    "A drive could not be led back to operation.",
    f"The message names it and what is missing: correct that, {_CLEAR}.",
)
TURNS_UNKNOWN: Final = CODES.add(
    "TURNS_UNKNOWN",
    "No whole number of turns brings a joint's measured position clearly into its range.",
    "Move the joint into its range by hand, check its calibration, then `hc clear-fault`.",
)
WORKING_COUNTER_LOW: Final = CODES.add(
    "WORKING_COUNTER_LOW",
    "Not every slave took part in the exchange: cable, power, or a slave that left OP.",
    "`hc status` names the slaves that don't answer. Check the cable to the first of them and "
    f"its power, {_CLEAR}.",
)
NO_FRAME_RETURNS: Final = CODES.add(
    "NO_FRAME_RETURNS",
    "Nothing returns from the ring: the cable to the first slave, or this machine was held up.",
    "Check the cable; `hc doctor --interface IFNAME` checks the interface. Then `hc clear-fault`.",
)
LOST_EXCHANGES: Final = CODES.add(
    "LOST_EXCHANGES",
    "Single frames got lost or came late. The drives hold their targets meanwhile.",
    "One now and then is harmless. More: connectors, cable shields, load of this machine "
    "(`hc doctor`).",
)
BAD_LINK: Final = CODES.add(
    "BAD_LINK",
    "A port of a slave counted damaged frames or a lost link in the last minute.",
    "Check the cable and the connectors at the port that the message names.",
)
SLAVE_SILENT: Final = CODES.add(
    "SLAVE_SILENT",
    "A slave does not answer: no power, or the cable before it.",
    f"Check power and the cable between the last slave that answers and this one, {_CLEAR}; a "
    "slave that was without power needs a restart of the control process.",
)
SLAVE_NOT_CONFIGURED: Final = CODES.add(
    "SLAVE_NOT_CONFIGURED",
    "The slave was without power: it lost its set-up, which is written at the start only.",
    "Repair its power, then restart the control process.",
)
SLAVE_LEFT_OP: Final = CODES.add(
    "SLAVE_LEFT_OP",
    "The slave left OP (usually for SAFEOP) and takes no targets any more.",
    "The AL status code has the reason (`hc decode --as al CODE`); `hc clear-fault` leads it back.",
)
AL_WATCHDOG: Final = CODES.add(
    "AL_WATCHDOG",
    "AL status 0x001B, sync manager watchdog: the slave got no process data for its watchdog time.",
    "The control process was held up or ended, or the cable was cut. `hc doctor` for the "
    f"machine's timing, {_CLEAR}.",
)
AL_NO_DISTRIBUTED_CLOCKS: Final = CODES.add(
    "AL_NO_DISTRIBUTED_CLOCKS",
    "AL status 0x0030, 0x0035, 0x0036 or 0x0037: the slave has no valid distributed clocks; an "
    "eRob works with them only.",
    "No other master may use the ring; start the control process again.",
)
AL_SYNCHRONIZATION: Final = CODES.add(
    "AL_SYNCHRONIZATION",
    "AL status 0x001A, 0x002C, 0x002D or 0x0032 to 0x0034: no SYNC0 in the slave, or the drive's "
    "loop and it lost each other.",
    "Leave `control_frequency` out (it follows the update rate) and start again.",
)
AL_PROCESS_DATA: Final = CODES.add(
    "AL_PROCESS_DATA",
    "AL status 0x001D, 0x001E, 0x0024 or 0x0025: the process data that are configured are not "
    "those of the drive.",
    "Is every slave an eRob, with the firmware the others have? `hc sdo read 0-9 0x100A`.",
)
AL_STATE_CHANGE: Final = CODES.add(
    "AL_STATE_CHANGE",
    "AL status 0x0011, 0x0012 or 0x0013: the requested state can't follow the slave's own: another "
    "master, or a restart.",
    "End the other master (`hc doctor --interface IFNAME` finds it), start again.",
)
SLAVE_EEPROM: Final = CODES.add(
    "SLAVE_EEPROM",
    "AL status 0x0016, 0x0050 or 0x0051: the slave's EEPROM (SII), which describes it to the "
    "master, is empty or damaged.",
    f"Write it again with the vendor's tool, switch the power of the drive off and on, {_CLEAR}.",
)
SDO_TIMED_OUT: Final = CODES.add(
    "SDO_TIMED_OUT",
    "A drive did not answer on its mailbox within 0.1 s (2.5 s where no loop runs): its "
    "firmware hangs, or frames get lost.",
    "Try it again. If the drive stays silent in OP: switch it off and on.",
)
GATE_CLOSED: Final = CODES.add(
    "GATE_CLOSED",
    "/prime/joint_states doesn't flow now, so nothing is written to the drives.",
    "`hc status` shows why the loop stands still or the ring is down. If neither is the case, "
    "joint_state_broadcaster is not active. The gate opens by itself.",
)

# By AL status code (ETG.1000.6).
AL_CODES: Final = {
    0x1B: AL_WATCHDOG,
    **dict.fromkeys((0x30, 0x35, 0x36, 0x37), AL_NO_DISTRIBUTED_CLOCKS),
    **dict.fromkeys((0x1A, 0x2C, 0x2D, 0x32, 0x33, 0x34), AL_SYNCHRONIZATION),
    **dict.fromkeys((0x1D, 0x1E, 0x24, 0x25), AL_PROCESS_DATA),
    **dict.fromkeys((0x11, 0x12, 0x13), AL_STATE_CHANGE),
    **dict.fromkeys((0x16, 0x50, 0x51), SLAVE_EEPROM),
}


def codes_of_drive(
    statusword: int, errors: Sequence[int] = (), *, unread: bool = False
) -> Iterator[ReasonCode]:
    """Yield the codes of a drive; `errors`: its error code (0x603F), then its history.

    `unread`: they could not be read.
    """
    state = decode_state(statusword)
    if errors:
        yield DRIVE_ERRORS.get(errors[0], DRIVE_ERROR_OTHER)
    if state in (DriveState.FAULT, DriveState.FAULT_REACTION_ACTIVE):
        if unread:
            yield DRIVE_ERROR_UNREAD
        yield DRIVE_FAULT
    elif state is not DriveState.OPERATION_ENABLED:
        yield DRIVE_DISABLED
    if statusword & (StatusBit.WARNING | StatusBit.INTERNAL_LIMIT) or not (
        statusword & StatusBit.REMOTE
    ):
        yield DRIVE_WARNING
    enabled = state is DriveState.OPERATION_ENABLED
    if (enabled or state is DriveState.FAULT) and not statusword & StatusBit.FOLLOWS_COMMAND:
        yield TARGET_IGNORED
