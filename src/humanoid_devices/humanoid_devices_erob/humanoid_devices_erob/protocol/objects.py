"""Indices of the drive's CoE objects (ETG.1000.6, CiA 402, ZeroErr manual)."""

from typing import Final

DEVICE_TYPE: Final = 0x1000
ERROR_REGISTER: Final = 0x1001
ERROR_HISTORY: Final = 0x1003
DEVICE_NAME: Final = 0x1008
STORE: Final = 0x1010  # all parameters, in the drive's permanent memory
RESTORE: Final = 0x1011
IDENTITY: Final = 0x1018
RX_PDO: Final = 0x1600
TX_PDO: Final = 0x1A00
SYNC_MANAGER_TYPES: Final = 0x1C00
RX_ASSIGN: Final = 0x1C12
TX_ASSIGN: Final = 0x1C13
SYNC_PARAMETERS: Final = 0x1C32, 0x1C33  # of outputs and of inputs
ENCODER_OFFSET: Final = 0x2242  # of the position at the output (ZeroErr manual)
VELOCITY_LOOP: Final = 0x2381
POSITION_LOOP: Final = 0x2382
GATE: Final = 0x2383  # "bus regulation of PID": 1 bus-written gains, 0 factory gains
ERROR_CODE: Final = 0x603F
CONTROLWORD: Final = 0x6040
STATUSWORD: Final = 0x6041
MODE: Final = 0x6060
MODE_DISPLAY: Final = 0x6061
POSITION: Final = 0x6064
VELOCITY: Final = 0x606C
TORQUE: Final = 0x6077
TARGET_TORQUE: Final = 0x6071
TARGET_POSITION: Final = 0x607A
POSITION_RANGE: Final = 0x607B  # beyond it positions and targets wrap round
HOME_OFFSET: Final = 0x607C
SOFTWARE_LIMITS: Final = 0x607D  # a target outside is moved to the limit
POLARITY: Final = 0x607E  # of positions, velocities and their targets
# Units of positions and velocities: the factor group of CiA 402, 0x6093 (counts of a revolution)
# among them.
FACTORS: Final = range(0x6089, 0x6098)
POSITION_OFFSET: Final = 0x60B0  # added to the target in cyclic modes, like the next two
VELOCITY_OFFSET: Final = 0x60B1
TORQUE_OFFSET: Final = 0x60B2
INTERPOLATION: Final = 0x60C2  # from target to target: period, and the power of ten of its unit
TARGET_VELOCITY: Final = 0x60FF

# (index, subindex) of the loop's gains and of the gate: INT32, or 16 bits, by drive.
VELOCITY_GAIN: Final = (VELOCITY_LOOP, 1)
VELOCITY_INTEGRAL: Final = (VELOCITY_LOOP, 2)
POSITION_GAIN: Final = (POSITION_LOOP, 1)
# Share of the target's velocity in the velocity loop's input, 0x4000 is 1.0 (public table of PID
# objects). The documents don't mention it; a drive may lack it.
FEED_FORWARD: Final = (POSITION_LOOP, 3)
GATE_SWITCH: Final = (GATE, 0)
