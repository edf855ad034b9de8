"""Benchmarks of a whole robot."""
