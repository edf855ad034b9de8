"""Parts of the virtual robot for tests and benchmarks."""
