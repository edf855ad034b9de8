"""LOCOMOTION by a learned policy."""
