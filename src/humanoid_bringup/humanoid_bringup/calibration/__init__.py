"""Calibration of a running robot: limp drives, limits of each joint, homing offsets."""
