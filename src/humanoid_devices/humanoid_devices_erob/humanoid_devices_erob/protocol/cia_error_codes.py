"""Error codes of CiA 301 and CiA 402 (0x603F, 0x1003, emergency messages), with short texts.

A code that is not in the table belongs to the class whose zeros it replaces: 0x2315 to 0x2310.
"""

from typing import Final

_TABLE: Final = """
1000 generic error | 2000 current | 2100 input current
2110 short circuit or earth leakage at the input | 2120 earth leakage at the input
2121 ... in phase L1 | 2122 ... in phase L2 | 2123 ... in phase L3 | 2130 short circuit at the input
2131 ... L1 to L2 | 2132 ... L2 to L3 | 2133 ... L3 to L1 | 2200 current inside the device
2211 internal current 1 | 2212 internal current 2 | 2213 overcurrent in the ramp
2214 overcurrent in the sequence | 2220 continuous overcurrent inside the device | 2221 ... no. 1
2222 ... no. 2 | 2230 short circuit or earth leakage inside the device
2240 earth leakage inside the device | 2250 short circuit inside the device | 2300 output current
2310 continuous overcurrent at the output | 2311 ... no. 1 | 2312 ... no. 2
2320 short circuit or earth leakage at the motor | 2330 earth leakage at the motor
2331 ... in phase U | 2332 ... in phase V | 2333 ... in phase W | 2340 short circuit at the motor
2341 ... U to V | 2342 ... V to W | 2343 ... W to U | 2350 too much load for too long (I²t)
2351 warning of too much load (I²t) | 3000 voltage | 3100 mains voltage | 3110 mains overvoltage
3111 ... in phase L1 | 3112 ... in phase L2 | 3113 ... in phase L3 | 3120 mains undervoltage
3121 ... in phase L1 | 3122 ... in phase L2 | 3123 ... in phase L3 | 3130 phase failure
3131 ... of L1 | 3132 ... of L2 | 3133 ... of L3 | 3134 phase sequence | 3140 mains frequency
3141 ... too high | 3142 ... too low | 3200 voltage inside the device | 3210 DC link overvoltage
3211 ... no. 1 | 3212 ... no. 2 | 3220 DC link undervoltage | 3221 ... no. 1 | 3222 ... no. 2
3230 load error | 3300 output voltage | 3310 output overvoltage | 3311 ... in phase U
3312 ... in phase V | 3313 ... in phase W | 3320 armature circuit | 3321 ... interrupted
3330 field circuit | 3331 ... interrupted | 4000 temperature | 4100 ambient temperature
4110 ... too high | 4120 ... too low | 4130 temperature of the supply air
4140 temperature at the air outlet | 4200 temperature of the device | 4210 ... too high
4220 ... too low | 4300 temperature of the drive | 4310 ... too high | 4320 ... too low
4400 temperature of the supply | 4410 ... too high | 4420 ... too low | 5000 hardware of the device
5100 supply | 5110 supply voltage low | 5111 supply U1, ±15 V | 5112 supply U2, 24 V
5113 supply U3, 5 V | 5114 supply U4 | 5115 supply U5 | 5116 supply U6 | 5117 supply U7
5118 supply U8 | 5119 supply U9 | 5120 supply of the intermediate circuit | 5200 control
5210 measurement circuit of the control | 5220 computing circuit of the control
5300 operating unit | 5400 power section | 5410 output stages | 5420 chopper | 5430 input stages
5440 contacts | 5441 ... no. 1 | 5442 ... no. 2 | 5443 ... no. 3 | 5444 ... no. 4 | 5445 ... no. 5
5450 fuses | 5451 ... S1 = L1 | 5452 ... S2 = L2 | 5453 ... S3 = L3 | 5454 ... S4 | 5455 ... S5
5456 ... S6 | 5457 ... S7 | 5458 ... S8 | 5459 ... S9 | 5500 memory | 5510 RAM | 5520 ROM or EPROM
5530 EEPROM | 6000 software of the device | 6010 reset by the watchdog | 6100 internal software
6200 software of the user | 6300 data record | 6301 ... no. 1 | 6302 ... no. 2 | 6303 ... no. 3
6304 ... no. 4 | 6305 ... no. 5 | 6306 ... no. 6 | 6307 ... no. 7 | 6308 ... no. 8 | 6309 ... no. 9
630A ... no. 10 | 630B ... no. 11 | 630C ... no. 12 | 630D ... no. 13 | 630E ... no. 14
630F ... no. 15 | 6310 parameters lost | 6320 parameter not valid | 7000 additional module
7100 power of a module | 7110 brake chopper | 7111 ... failed | 7112 ... overcurrent
7113 ... protective circuit | 7120 motor | 7121 motor blocked | 7122 motor or its commutation
7123 motor tilted | 7200 measurement circuit | 7300 sensor | 7301 tacho failed
7302 tacho of wrong polarity | 7303 resolver 1 failed | 7304 resolver 2 failed
7305 incremental encoder 1 failed | 7306 incremental encoder 2 failed
7307 incremental encoder 3 failed | 7310 speed | 7320 position | 7400 computing circuit
7500 communication of a module | 7510 serial interface 1 | 7520 serial interface 2
7600 external data storage | 8000 monitoring | 8100 communication | 8110 CAN overrun, frames lost
8120 CAN error passive | 8130 life guard or heartbeat missing | 8140 recovered from CAN bus-off
8150 CAN id used twice | 8200 protocol | 8210 PDO not used, too short | 8220 PDO too long
8230 multiplexed PDO not used | 8240 SYNC of unexpected length | 8250 PDO did not arrive in time
8300 torque control | 8311 torque too high | 8312 start-up too hard | 8313 torque at standstill
8321 torque too low | 8331 torque error | 8400 velocity controller | 8500 position controller
8600 positioning controller | 8611 following error | 8612 reference beyond its limit
8700 synchronization controller | 8800 winding controller | 8900 monitoring of the process data
8A00 monitoring of the control | 9000 external error | F000 additional function | F001 deceleration
F002 subsynchronous run | F003 stroke operation | F004 additional control
FF00 specific to the device
"""
_CLASS_MASKS: Final = (0xFFF0, 0xFF00, 0xF000)


def _parsed() -> dict[int, str]:
    texts: dict[int, str] = {}
    head = ""
    for entry in _TABLE.replace("\n", "|").split("|"):
        code, _, text = entry.strip().partition(" ")
        if not code:
            continue
        if text.startswith("... "):  # of the latest text without dots
            text = f"{head} {text[4:]}"
        else:
            head = text
        texts[int(code, 16)] = text
    return texts


CIA_ERRORS: Final = _parsed()


def class_of(code: int) -> str | None:
    """Return the text of the smallest class of a code that is not in the table; None: no class."""
    classes = (CIA_ERRORS.get(code & mask) for mask in _CLASS_MASKS)
    return next((text for text in classes if text), None)
