"""Records of all ticks of the control process: layout, rings in memory, file."""
