"""Addresses of ESC registers (ETG.1000.4; Beckhoff ESC data sheet, section II)."""

from typing import Final

ESC_TYPE: Final = 0x0000
PORT_DESCRIPTOR: Final = 0x0007
FEATURES: Final = 0x0008
STATION_ADDRESS: Final = 0x0010
DL_CONTROL: Final = 0x0100
DL_STATUS: Final = 0x0110
AL_CONTROL: Final = 0x0120
AL_STATUS: Final = 0x0130
AL_STATUS_CODE: Final = 0x0134
PDI_TYPE: Final = 0x0140
EVENT_MASK: Final = 0x0200
ERROR_COUNTERS: Final = 0x0300
DAMAGED_FRAMES: Final = 0x0300  # u8, every second byte for each of four ports
FORWARDED: Final = 0x0308  # u8 for each port: frames that were damaged before
LOST_LINKS: Final = 0x0310  # u8 for each port
WATCHDOG_DIVIDER: Final = 0x0400  # u16, (value + 2) * 40 ns
WATCHDOG_PDI: Final = 0x0410  # u16, in units of the divider
WATCHDOG_PROCESS_DATA: Final = 0x0420
WATCHDOG_STATUS: Final = 0x0440  # bit 0: 1 while process data come in time
EEPROM_OWNER: Final = 0x0500
EEPROM_CONTROL: Final = 0x0502
EEPROM_ADDRESS: Final = 0x0504
EEPROM_DATA: Final = 0x0508
FMMU: Final = 0x0600  # 16 bytes each
SYNC_MANAGER: Final = 0x0800  # 8 bytes each
RECEIVE_TIME_PORT_0: Final = 0x0900  # u32 for each of four ports
SYSTEM_TIME: Final = 0x0910
RECEIVE_TIME_UNIT: Final = 0x0918
SYSTEM_TIME_OFFSET: Final = 0x0920
SYSTEM_TIME_DIFFERENCE: Final = 0x092C  # bit 31: sign, bits 30-0: magnitude [ns]
SPEED_COUNTER_START: Final = 0x0930
SYNC_ACTIVATION: Final = 0x0981  # bit 0: cyclic operation, bit 1: SYNC0
SYNC0_START: Final = 0x0990
SYNC0_CYCLE: Final = 0x09A0  # [ns]
RAM: Final = 0x1000

FMMU_BYTES: Final = 16
SYNC_MANAGER_BYTES: Final = 8
