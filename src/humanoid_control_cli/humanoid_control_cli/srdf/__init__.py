"""`hc srdf`."""
