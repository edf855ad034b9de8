"""The common parts of all descriptions: macros in `macros/`, and `rviz/robot.rviz`."""
