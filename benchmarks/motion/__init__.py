"""Benchmarks of trajectories, compensation, servo controllers and policies."""
