"""Ways with limited velocity, acceleration and jerk."""
