"""The bus for settings: our own slcan, python-can for every other interface."""

from __future__ import annotations

from typing import Final

import can

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import Bus, BusSettings
from humanoid_devices_can.bus.problems import opening_problem
from humanoid_devices_can.bus.python_can import PythonCanBus
from humanoid_devices_can.bus.serial_lines import SerialPortError
from humanoid_devices_can.bus.serial_port import OpenPort, TtyPort
from humanoid_devices_can.bus.slcan import SlcanBus
from humanoid_devices_can.errors import InterfaceError

_FAILURES: Final = (SerialPortError, OSError, ValueError, TypeError)  # of slcan


def open_bus(
    settings: BusSettings,
    machine: Machine = LINUX,
    open_port: OpenPort = TtyPort,
    *,
    shared: bool = False,
) -> Bus:
    """Open the bus. `open_port` opens the port of a serial adapter.

    `shared`: another process has the bus open too; closing it must not disturb that process.

    Raises InterfaceError that names what is missing.
    """
    try:
        if settings.interface == "slcan":
            return SlcanBus(settings, machine, open_port, shared=shared)
    except _FAILURES as error:
        raise InterfaceError(opening_problem(error, settings)) from error
    try:
        return PythonCanBus(settings, _python_can(settings), machine.clock)
    except Exception as error:  # the drivers behind python-can raise whatever they like
        raise InterfaceError(opening_problem(error, settings)) from error


def _python_can(settings: BusSettings) -> can.BusABC:
    return can.Bus(
        interface=settings.interface,
        channel=settings.channel,
        bitrate=settings.bitrate,
        ignore_config=True,  # the block's parameters are the only source
        **settings.options,
    )
