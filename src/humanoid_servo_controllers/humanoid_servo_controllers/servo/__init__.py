"""The control law without ROS: arrays with one entry per joint."""
