"""The joints of the virtual robot: one MuJoCo model that all its drives turn."""

import os

# Nothing is drawn here: MuJoCo need not search for a display when it is imported.
os.environ.setdefault("MUJOCO_GL", "disable")
