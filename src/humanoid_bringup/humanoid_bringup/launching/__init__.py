"""Launch files: arguments, and processes as launch actions. Needs ROS 2's launch system."""
