"""`hc sdo`."""
