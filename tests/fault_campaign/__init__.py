"""Fault campaign: one fault at a time on the whole robot, judged by the virtual robot's truth."""
