"""`hc load` and `hc unload`: an own controller in a running robot."""
