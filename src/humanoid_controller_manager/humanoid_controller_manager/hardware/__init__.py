"""Hardware components: from the URDF block to the arrays of the loop. No ROS."""
