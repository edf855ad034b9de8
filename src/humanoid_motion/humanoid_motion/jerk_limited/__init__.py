"""Motions with limited velocity, acceleration and jerk."""
