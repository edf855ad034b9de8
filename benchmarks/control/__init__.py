"""Benchmarks of the control process: cycle, topics, modes, joint stream."""
