"""The control channel of the virtual robot's processes: faults, loads and truth."""
