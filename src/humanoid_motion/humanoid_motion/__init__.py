"""Motions of joints: trajectories and jerk-limited ways. No ROS."""

import os

# Nothing is drawn here: MuJoCo need not look for a display when it is imported.
os.environ.setdefault("MUJOCO_GL", "disable")
