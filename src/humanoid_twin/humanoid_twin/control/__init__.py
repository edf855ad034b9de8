"""The control channel of the virtual robot's processes: faults, loads, truth; not on any wire."""
