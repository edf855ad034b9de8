"""Checks of the machine before a bring-up: rights, network interfaces, CAN adapter, gamepad."""
