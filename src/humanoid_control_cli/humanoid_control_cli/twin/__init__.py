"""`hc twin`: the virtual robot alone, and faults in it."""
