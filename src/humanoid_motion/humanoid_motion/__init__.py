"""Motions of joints: trajectories and jerk-limited ways. No ROS."""
