"""`hc`, the command line of Humanoid Control."""
