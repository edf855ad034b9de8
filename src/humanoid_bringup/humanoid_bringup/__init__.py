"""Bring-up of any robot: plan of processes, preflight checks, supervision, launch, calibration."""
