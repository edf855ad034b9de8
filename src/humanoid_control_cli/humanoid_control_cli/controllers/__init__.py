"""`hc load` and `hc unload`: load a controller into a running robot."""
