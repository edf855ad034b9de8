"""Controllers: loading, configuring, and the choice of the one in charge. No ROS."""
