"""Benchmarks of the workspace: python -m benchmarks.control.control_cycle, for instance."""
