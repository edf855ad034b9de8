"""Controllers: loading, configuring, and which one is in charge. No ROS."""
