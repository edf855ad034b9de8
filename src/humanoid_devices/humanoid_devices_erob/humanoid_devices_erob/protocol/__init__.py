"""Layouts on the wire, shared by the master and the virtual drives.

No physical constants, units or times.
"""
