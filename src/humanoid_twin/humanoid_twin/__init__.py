"""The virtual robot: it answers on the wire as Prime's drives do."""
