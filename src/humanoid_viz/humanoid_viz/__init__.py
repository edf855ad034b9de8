"""Browser viewer and operator panel. Only `nodes` uses ROS: topics and one service."""
