"""Remedies for the messages of the ring and its drives."""

from typing import Final

from humanoid_control_common.remedies import Remedy
from humanoid_devices_erob.drive.error_codes import ERROR_CODES

_CLEAR: Final = "then `hc clear-fault`"

_DRIVE_ERRORS: Final = tuple(
    Remedy(
        f"error 0x{code:04X}: {error.text}",
        f"{error.cause[0].upper()}{error.cause[1:]}.",
        f"{error.fix[0].upper()}{error.fix[1:]} (`hc clear-fault`).",
        rf"(error|code:?) 0x{code:04X}",
    )
    for code, error in ERROR_CODES.items()
)

_DRIVES: Final = (
    Remedy(
        "statusword 4616 (0x1208)",
        "The drive is in fault and out of operation; on Prime nearly always clocks or "
        "communication.",
        "Read its error: `hc sdo read POS 0x603F`, `hc decode` explains it. Mend the cause, "
        f"{_CLEAR}.",
        r"statusword (?!520 )\d+ \(0x\w{4}\): fault",
    ),
    Remedy(
        "statusword 520 (0x0208)",
        "In fault as with 4616, and the target position is ignored (bit 12).",
        f"As for 4616. If it stays: switch the drive off and on, start again, {_CLEAR}.",
        r"statusword 520 ",
    ),
    Remedy(
        "switch on disabled",
        "The drive is out of operation without an error: it was restarted, or left OP.",
        "See what the AL status and the working counter say; `hc clear-fault` leads it back.",
        r"switch on disabled|ready to switch on|: switched on",
    ),
)

_RING: Final = (
    Remedy(
        "the working counter is too low",
        "Not every slave took part in the exchange: cable, power, or a slave that left OP.",
        "`hc status` names the slaves that don't answer. Check the cable to the first of them and "
        f"its power, {_CLEAR}.",
        "working counter is too low",
    ),
    Remedy(
        "no frame comes back",
        "Nothing returns from the ring: the cable to the first slave, or this machine was held up.",
        "Check the cable; `hc doctor --interface IFNAME` checks the interface. Then "
        "`hc clear-fault`.",
    ),
    Remedy(
        "lost exchanges",
        "Single frames got lost or came late. The drives hold their targets meanwhile.",
        "One now and then is harmless. More: connectors, cable shields, load of this machine "
        "(`hc doctor`).",
    ),
    Remedy(
        "does not answer",
        "A slave is missing from the ring: no power, or the cable before it.",
        f"Check power and the cable between the last slave that answers and this one, {_CLEAR}; a "
        "slave that was without power needs a restart of the control process.",
    ),
    Remedy(
        "not configured any more",
        "The slave was without power: it lost its set-up, which is written at the start only.",
        "Mend power or cable, then restart the control process.",
    ),
    Remedy(
        "AL status 0x001B",
        "Sync manager watchdog: the slave got no process data for its watchdog time.",
        "The control process was held up or ended, or the cable was cut. `hc doctor` for the "
        f"machine's timing, {_CLEAR}.",
    ),
    Remedy(
        "AL status 0x0030",
        "The slave has no distributed clocks; an eRob works with them only.",
        "No other master may use the ring; start the control process again.",
        r"AL status 0x00(30|35|36|37)",
    ),
    Remedy(
        "AL status 0x002D",
        "No SYNC0 in the slave, or the drive's loop and it lost each other.",
        "Leave `control_frequency` out (it follows the update rate) and start again.",
        r"AL status 0x00(1A|2C|2D|32|33|34)",
    ),
    Remedy(
        "AL status 0x001D",
        "The process data that are configured are not those of the drive.",
        "Is every slave an eRob, with the firmware the others have? `hc sdo read POS 0x100A`.",
        r"AL status 0x00(1D|1E|24|25)",
    ),
    Remedy(
        "AL status 0x0011",
        "The slave was asked for a state that can't follow its own: another master, or a restart.",
        "End the other master (`hc doctor --interface IFNAME` finds it), start again.",
        r"AL status 0x001[123]",
    ),
    Remedy(
        "SAFEOP",
        "The slave left OP and takes no targets any more.",
        "The AL status code tells why (`hc decode --as al CODE`); `hc clear-fault` leads it back.",
    ),
    Remedy(
        "SDO time-out",
        "A drive did not answer on its mailbox within 0.1 s (2.5 s where no loop runs): its "
        "firmware hangs, or frames get lost.",
        "Try `hc sdo read POS 0x6041`. If it stays silent in OP: switch the drive off and on.",
        r"TIMED_OUT|no answer within \d+ ms",
    ),
)

_IMPEDANCE: Final = (
    Remedy(
        "the impedance manager is silent",
        "Its process ended or hangs. Drives that were armed were made soft; one that never was "
        "keeps its stiff factory gains. Nothing stiff may begin.",
        "Start the bring-up again: the impedance manager comes with it.",
        r"impedance manager( is)? silent|no message from the impedance manager|"
        r"no word from the impedance manager",
    ),
    Remedy(
        "the gate for SDO writes is closed",
        "/prime/joint_states doesn't flow now, so nothing is written to the drives.",
        "`hc status` shows why the loop stands still or the ring is down. It opens by itself.",
        r"gate .{0,24}closed|waiting for /prime/joint_states",
    ),
    Remedy(
        "impedance not confirmed",
        "The drives' gains are not read back as the mode in force asks; targets follow the joints.",
        "Usual for a moment after a change of mode. If it stays: the message names the drive whose "
        "SDO fails; is it in OP?",
        r"impedance of \w+ .*not confirmed|not confirmed for \w+",
    ),
)

REMEDIES: Final = (*_DRIVE_ERRORS, *_DRIVES, *_RING, *_IMPEDANCE)
