"""Support for tests of a robot on one simulated clock."""
