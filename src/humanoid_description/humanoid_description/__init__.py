"""What the descriptions of all robots share: macros in `macros/`, and `rviz/robot.rviz`."""
