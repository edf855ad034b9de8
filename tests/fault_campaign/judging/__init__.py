"""Judge a trial by the truth of the virtual robot and by the robot's own reports."""
