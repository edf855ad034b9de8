"""The black box: what led to a fault, written down by a process of its own."""
