"""Limits, and the judgement of measurements and of the loop itself. No ROS."""
