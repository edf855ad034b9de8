"""Remedies for the messages of a CAN bus and its motors."""

from typing import Final

from humanoid_control_common.remedies import Remedy

_CLEAR: Final = "then `hc clear-fault`"

_BUS: Final = (
    Remedy(
        "BUS_OFF",
        "The adapter's controller gave the bus up: every frame it sent was destroyed.",
        "Same bitrate everywhere (1 Mbit/s)? CAN_H and CAN_L not swapped? 120 ohm at both ends, "
        f"60 ohm in between? Mend it, {_CLEAR}: that opens the bus anew.",
        r"\bBUS_OFF\b|bus-off",
    ),
    Remedy(
        "RX_TIMEOUT",
        "A joint has not been heard of for 200 ms.",
        "The message names it. Is it powered, its connector in place, its id right? Other joints "
        f"beyond it silent too: the cable before the first of them. Then power, {_CLEAR}.",
        r"\bRX_TIMEOUT\b|: silent\b|silent for [\d.]+ s \(RX",
    ),
    Remedy(
        "nobody acknowledges",
        "Frames get out and no motor confirms any: all are without power, or the bus is open.",
        "Motor supply on? Emergency stop released? Cable between adapter and first motor, "
        f"termination, bitrate; {_CLEAR}.",
    ),
    Remedy(
        "only error frames arrive",
        "Frames arrive, but none can be read: another bitrate, or bad wiring.",
        "Set `bitrate` to the motors' (1000000), check wiring and termination.",
        r"only error frames|error frames on",
    ),
    Remedy(
        "TX_QUEUE_OVERRUN",
        "Commands wait longer than they should: the adapter doesn't get them out.",
        "`ip -details link show canX` (state, bitrate, txqueuelen); motors powered? An adapter on "
        "a USB hub: plug it in directly.",
        r"\bTX_QUEUE_OVERRUN\b|commands don't get out|adapter refuses frames",
    ),
    Remedy(
        "ENOBUFS",
        "No buffer space: the interface's queue is full, usually because no motor acknowledges.",
        "As for `nobody acknowledges`. With a healthy bus: `ip link set canX txqueuelen 1000`.",
        r"\bENOBUFS\b|no buffer space|adapter's queue is full",
    ),
    Remedy(
        "the adapter is gone",
        "Its device went away: pulled out, reset, or its USB hub lost power.",
        f"Plug it in again and look at `dmesg`; {_CLEAR}. Motors keep what they had meanwhile.",
        r"adapter is gone",
    ),
    Remedy(
        "the interface is down",
        "The network interface of the CAN bus was switched off.",
        f"`sudo ip link set canX up type can bitrate 1000000 restart-ms 100`, {_CLEAR}.",
    ),
    Remedy(
        "disabled by the guard",
        "The control process stood still for too long, so its guard disabled its motors.",
        "Find out what held it up: another program, too little processor time, a controller of "
        f"your own; {_CLEAR}: that enables the motors again, without torque at first.",
    ),
    Remedy(
        "the guard is disabling, the guard could not disable",
        "The control process stood still for too long, and its guard has not disabled the motors "
        "(yet): they go on with what this process commands. Many USB adapters are open to one "
        "process only.",
        f"As for `disabled by the guard`; {_CLEAR}: that starts a new guard, too.",
        r"the guard is disabling|the guard could not disable",
    ),
    Remedy(
        "no guard on",
        "The process that disables these motors when the control process fails is not there.",
        "The robot works, with less safety. End it in order (`hc mode quit`) and start it again.",
    ),
    Remedy(
        "another process drives its motors",
        "A second control process, or one that has not ended yet, holds this bus.",
        "End it first: `hc mode quit`, or Ctrl-C where it was started.",
    ),
    Remedy(
        "INVALID_FRAME",
        "A frame is from no motor of this block, or two motors have one id.",
        "The message has the frame. Another program or tool on the bus? Ids unique? "
        "`candump canX` or the vendor's tool shows them.",
        r"\bINVALID_FRAME\b|do two motors have (this|the same) id|no motor of this block|"
        r"another host\b",
    ),
)

_MOTORS: Final = (
    Remedy(
        "TEMPERATURE_LIMIT",
        "A motor is over its temperature limit, or says that it soon will be.",
        "`hc mode damp` and let it cool. Again: less load, less stiffness, more pauses.",
        r"\bTEMPERATURE_LIMIT\b|over.temperature",
    ),
    Remedy(
        "MOTOR_FAULT",
        "A drive reports a fault of its own, or left operation.",
        f"The message names joint and fault: mend the cause, {_CLEAR}.",
    ),
    Remedy(
        "is disabled, maybe restarted",
        "The motor gives no torque although no order took it: its supply dipped, its watchdog or "
        "the guard disabled it, or another host did.",
        f"Look for supply and cables; {_CLEAR} enables it again, without torque at first.",
        r"is disabled\b",
    ),
    Remedy(
        "undervoltage",
        "The motor's supply is too low.",
        f"Battery, supply, connectors and wire gauge; {_CLEAR}.",
        r"undervoltage",
    ),
    Remedy(
        "overvoltage",
        "The motor's supply is too high, often from braking energy.",
        f"Supply voltage; a supply that can't take energy back needs a brake resistor; {_CLEAR}.",
        r"overvoltage",
    ),
    Remedy(
        "stall overload",
        "The motor pushed too long against something that doesn't move.",
        f"Clear the joint's way, look at its pose and gains; {_CLEAR}.",
        r"\bstall\b",
    ),
    Remedy(
        "magnetic encoder, uncalibrated, gate driver",
        "A fault inside the motor.",
        "Vendor's tool: calibrate the encoder. Again: the motor must be changed.",
        r"magnetic.encoder|uncalibrated|gate.driver",
    ),
    Remedy(
        "only one of two feedback frames arrives",
        "The motor sends only one of its two feedback messages.",
        "Another host or tool changed its feedback: end it, restart the bring-up.",
    ),
    Remedy(
        "velocity at or above the feedback range",
        "The joint turns at pi rad/s or more: its velocity is not known beyond.",
        "Slow the motion down; what commands it should stay below 3 rad/s.",
    ),
    Remedy(
        "command saturated",
        "A command did not fit into the wire's field and was cut.",
        "Velocities beyond 3.14 rad/s (Sito) or gains beyond the model's range: `hc status --all`.",
    ),
    Remedy(
        "not confirmed that it is disabled",
        "The motor may still have torque.",
        "Press the emergency stop that cuts the power before you touch the robot.",
        r"not confirmed that it is disabled|may still be powered|not disabled",
    ),
)

REMEDIES: Final = (*_BUS, *_MOTORS)
