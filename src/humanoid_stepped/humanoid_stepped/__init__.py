"""The whole robot, stack and virtual robot, in one process on one simulated clock."""
