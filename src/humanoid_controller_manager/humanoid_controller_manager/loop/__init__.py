"""The control loop: one thread, one tick after another. No ROS."""
