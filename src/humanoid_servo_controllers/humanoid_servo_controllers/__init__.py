"""Position and velocity control by effort, with friction maps and hysteresis deadbands."""
