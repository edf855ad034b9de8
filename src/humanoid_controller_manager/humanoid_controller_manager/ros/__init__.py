"""The ROS edge of the control process: node, executor, topics, parameters."""
