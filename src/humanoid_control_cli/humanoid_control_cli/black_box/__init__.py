"""`hc blackbox`."""
