"""`hc calibrate`."""
