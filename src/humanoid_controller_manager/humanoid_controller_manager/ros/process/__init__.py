"""The control process as a ROS program: session, lock, signals, companions, end."""
