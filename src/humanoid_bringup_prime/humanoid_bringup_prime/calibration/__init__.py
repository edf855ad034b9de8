"""Calibration of the joints: a hand sweep between the stops becomes direction and homing offset."""
