"""The fault campaign: the whole robot, one fault at a time, judged by the virtual robot's truth."""
