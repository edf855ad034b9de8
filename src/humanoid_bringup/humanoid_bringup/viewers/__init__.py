"""Programs that show the robot: browser viewer, rviz, /tf."""
