"""Benchmarks of the motors on CAN."""
