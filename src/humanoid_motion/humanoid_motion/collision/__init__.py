"""Whether two links of the robot come too near to each other, at a pose, on a way, or ahead."""
