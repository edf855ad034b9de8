"""The viewer's state of the robot."""
