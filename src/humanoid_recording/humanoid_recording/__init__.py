"""Recordings of a robot's topics: bags, and the black box."""
