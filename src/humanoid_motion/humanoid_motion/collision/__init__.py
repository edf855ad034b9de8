"""Check whether two links of the robot come too near to each other, at a pose or on a path."""
