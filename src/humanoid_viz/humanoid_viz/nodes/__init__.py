"""The ROS nodes of this package and the loops that run them."""
