"""The robot Prime as URDF: geometry, masses, limits and <ros2_control> blocks."""

from prime_description.description import expand

__all__ = ["expand"]
