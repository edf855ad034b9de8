"""The joints of the virtual robot: one MuJoCo model that all its drives turn."""
