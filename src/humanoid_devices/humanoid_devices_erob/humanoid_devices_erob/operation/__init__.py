"""Drives in operation: SDO policy, impedance, recovery, ordered exit."""
