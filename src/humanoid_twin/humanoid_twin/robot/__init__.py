"""The whole virtual robot in one process: both buses on one physics, one clock, one thread."""
