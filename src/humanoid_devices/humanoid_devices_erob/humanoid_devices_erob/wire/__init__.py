"""Layouts of what travels on the wire, used by the master's and by the drive's side alike.

Nothing here knows a physical constant, a unit or a time.
"""
