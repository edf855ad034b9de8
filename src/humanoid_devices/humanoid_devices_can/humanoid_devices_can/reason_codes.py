"""Reason codes of a CAN bus and its motors."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("CAN")

_CLEAR: Final = "then `hc clear-fault`"

BUS_OFF: Final = CODES.add(
    "BUS_OFF",
    "The adapter's controller gave the bus up: every frame it sent was destroyed.",
    "Same bitrate everywhere (1 Mbit/s)? CAN_H and CAN_L not swapped? 120 ohm at both ends, 60 ohm "
    f"in between? Correct it, {_CLEAR}: that opens the bus again.",
)
RX_TIMEOUT: Final = CODES.add(
    "RX_TIMEOUT",
    "A joint has been silent for 200 ms.",
    "The message names it. Is it powered, its connector in place, its id right? Other joints "
    "beyond it silent too: the cable before the first of them. Was it hot, or overloaded? A Sito "
    f"with a fault of its own is silent, too. Then power, {_CLEAR}.",
)
NOT_ACKNOWLEDGED: Final = CODES.add(
    "NOT_ACKNOWLEDGED",
    "Frames get out and no motor confirms any: all are without power, or the bus is open.",
    "Motor supply on? Emergency stop released? Cable between adapter and first motor, "
    f"termination, bitrate; {_CLEAR}.",
)
ERROR_FRAMES: Final = CODES.add(
    "ERROR_FRAMES",
    "Error frames arrive: another bitrate, two motors with one id, or bad wiring.",
    "Set `bitrate` to the motors' (1000000), check ids, wiring and termination.",
)
TX_QUEUE_OVERRUN: Final = CODES.add(
    "TX_QUEUE_OVERRUN",
    "Commands wait longer than they should: the adapter doesn't get them out.",
    "Motors powered? SocketCAN: `ip -details link show canX` (state, bitrate, txqueuelen). An "
    "adapter on a USB hub: plug it in directly; a serial one that hangs: unplug it and plug it in.",
)
TX_QUEUE_FULL: Final = CODES.add(
    "TX_QUEUE_FULL",
    "No buffer space (ENOBUFS): the interface's queue is full, usually because no motor "
    "acknowledges.",
    "As for NOT_ACKNOWLEDGED. With a healthy bus: `ip link set canX txqueuelen 1000`.",
)
ADAPTER_GONE: Final = CODES.add(
    "ADAPTER_GONE",
    "The adapter's device went away: pulled out, reset, or its USB hub lost power.",
    f"Plug it in again and look at `dmesg`; {_CLEAR}. Motors keep what they had meanwhile.",
)
INTERFACE_DOWN: Final = CODES.add(
    "INTERFACE_DOWN",
    "The network interface of the CAN bus was switched off.",
    f"`sudo ip link set canX up type can bitrate 1000000 restart-ms 100`, {_CLEAR}.",
)
INTERFACE_UNUSABLE: Final = CODES.add(
    "INTERFACE_UNUSABLE",
    "This machine has no such CAN interface, this process may not use it, or another process "
    "drives its motors.",
    "See the message; end the other process first: `hc down`, or Ctrl-C where it was started.",
)
BUS_THREAD_FAILED: Final = CODES.add(
    "BUS_THREAD_FAILED",
    "The thread that serves the bus failed by an error in its code; the bus is not served.",
    f"The log of the control process has the traceback: report it; {_CLEAR} opens the bus again.",
)
DISABLED_BY_GUARD: Final = CODES.add(
    "DISABLED_BY_GUARD",
    "The control process stood still for too long, so its guard disabled its motors.",
    "Find out what held it up: another program, too little processor time, a controller of "
    f"your own; {_CLEAR}: that enables the motors again, without torque at first.",
)
GUARD_NOT_DONE: Final = CODES.add(
    "GUARD_NOT_DONE",
    "The control process stood still for too long, and its guard has not disabled the motors "
    "(yet): they go on with what this process commands. Many USB adapters are open to one "
    "process only.",
    f"As for DISABLED_BY_GUARD; {_CLEAR}: that starts a new guard, too.",
)
INVALID_FRAME: Final = CODES.add(
    "INVALID_FRAME",
    "A frame is from no motor of this block, or its content is none of a motor.",
    "The message has the frame. Another program or tool on the bus? `candump canX` or the vendor's "
    "tool shows the ids.",
)
FRAMES_LOST: Final = CODES.add(
    "FRAMES_LOST",
    "For two seconds, less than 80 % of the frames of a motor have arrived.",
    "Look at cable, connectors and termination; plug a USB adapter in directly, without a hub. All "
    "motors of a bus: the adapter or this machine is overloaded, see `hc doctor`.",
)
DUPLICATE_ID: Final = CODES.add(
    "DUPLICATE_ID",
    "More frames arrive than one motor sends: two motors have one id, or another program has told "
    "a Robstride to report by itself.",
    f"Give each motor an id of its own with the vendor's tool, {_CLEAR}: that ends reporting, too. "
    "`candump canX` shows the ids.",
)
TEMPERATURE_LIMIT: Final = CODES.add(
    "TEMPERATURE_LIMIT",
    "A motor is over its temperature limit, or reports that it soon will be.",
    "`hc mode damp` and let it cool. Again: less load, less stiffness, more pauses.",
)
MOTOR_FAULT: Final = CODES.add(
    "MOTOR_FAULT",
    "A drive reports a fault of its own, or left operation.",
    f"The message names joint and fault: remove the cause, {_CLEAR}.",
)
MOTOR_DISABLED: Final = CODES.add(
    "MOTOR_DISABLED",
    "The motor gives no torque although no order took it: its supply dipped, its watchdog or "
    "the guard disabled it, or another host did.",
    f"Look for supply and cables; {_CLEAR} enables it again, without torque at first.",
)
COMMANDS_NOT_EXECUTED: Final = CODES.add(
    "COMMANDS_NOT_EXECUTED",
    "A motor answers, but its effort is not what its commands ask for: it ignores them, or has "
    "other gains. It may keep its last set point in every mode.",
    "Cut its power by the emergency stop, then switch it on again. From the first power-up on: "
    "compare its divisors or model with the motor; if its effort is reported on another scale, "
    "raise `effort_tolerance` in the hardware file.",
)
UNDERVOLTAGE: Final = CODES.add(
    "UNDERVOLTAGE",
    "The motor's supply is too low.",
    f"Battery, supply, connectors and wire gauge; {_CLEAR}.",
)
OVERVOLTAGE: Final = CODES.add(
    "OVERVOLTAGE",
    "The motor's supply is too high, often from braking energy.",
    f"Supply voltage; a supply that can't take energy back needs a brake resistor; {_CLEAR}.",
)
STALL_OVERLOAD: Final = CODES.add(
    "STALL_OVERLOAD",
    "The motor pushed too long against something that doesn't move.",
    f"Clear the joint's way, look at its pose and gains; {_CLEAR}.",
)
MOTOR_DEFECT: Final = CODES.add(
    "MOTOR_DEFECT",
    "A fault inside the motor: magnetic encoder, calibration of the encoder, or gate driver.",
    "Vendor's tool: calibrate the encoder. Again: the motor must be changed.",
)
HALF_FEEDBACK: Final = CODES.add(
    "HALF_FEEDBACK",
    "The motor sends frames, but not both position and velocity.",
    "It ignores its commands, or another host or tool changed its feedback: end that, restart the "
    "bring-up.",
)
VELOCITY_AT_RAIL: Final = CODES.add(
    "VELOCITY_AT_RAIL",
    "The joint turns at pi rad/s or more: its velocity is not known beyond.",
    "Slow the motion down; what commands it should stay below 3 rad/s.",
)
COMMAND_SATURATED: Final = CODES.add(
    "COMMAND_SATURATED",
    "A command did not fit into the wire's field and was cut.",
    "Velocities beyond 3.14 rad/s (Sito) or gains beyond the model's range: `hc status --all`.",
)
MOTORS_BEING_ENABLED: Final = CODES.add(
    "MOTORS_BEING_ENABLED",
    "After a reset the motors are being enabled again.",
    "Wait a second, then `hc clear-fault` again.",
)
MOTORS_NOT_ENABLED: Final = CODES.add(
    "MOTORS_NOT_ENABLED",
    "After a reset the motors could not be enabled again.",
    f"See the message and the codes after this one: remove the cause, {_CLEAR}.",
)
MOTOR_NO_ANSWER: Final = CODES.add(
    "MOTOR_NO_ANSWER",
    "A motor does not answer a request.",
    "Is it powered, its id right, the bitrate the bus's?",
)
JOINT_MISPLACED: Final = CODES.add(
    "JOINT_MISPLACED",
    "A joint is measured outside its range, and no whole number of turns brings it there: a stiff "
    "mode would drive it into its stop.",
    "Turn the joint by hand into its range; is `homing_offset` in rad? Has a tool changed a "
    "Robstride's zero or its `add_offset` (0x702B)? With `zero_sta` (0x7029) 1, saved, it wakes up "
    "within half a turn of its zero. Else give the joint direction 1 and homing_offset 0 in the "
    "calibration file, and calibrate it again.",
)
MOTOR_REFUSED: Final = CODES.add(
    "MOTOR_REFUSED",
    "A motor does not obey a request, or the request could not be sent.",
    f"The message names the motor and why: remove the cause, {_CLEAR}.",
)
MAY_BE_ENABLED: Final = CODES.add(
    "MAY_BE_ENABLED",
    "A motor has not confirmed that it is disabled: it may still have torque.",
    "Press the emergency stop that cuts the power before you touch the robot.",
)
