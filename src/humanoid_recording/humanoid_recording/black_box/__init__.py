"""The black box: a process that writes the ticks before and after a fault into a file."""
