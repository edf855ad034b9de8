"""Browser viewer and operator panel. Only node.py knows ROS; it talks topics and one service."""
