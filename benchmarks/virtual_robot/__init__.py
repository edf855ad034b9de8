"""Benchmarks of the virtual robot and of simulation."""
