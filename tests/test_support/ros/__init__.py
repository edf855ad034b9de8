"""ROS domains and middleware of tests and benchmarks."""
