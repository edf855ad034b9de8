"""The trajectory controller."""
