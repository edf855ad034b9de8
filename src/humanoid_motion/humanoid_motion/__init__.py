"""Motions of joints: trajectories and jerk-limited motions. No ROS."""
