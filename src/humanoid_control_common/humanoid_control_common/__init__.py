"""Values and rules shared by the whole stack, without ROS, bus library or simulator."""
