"""Taught motions: recorded, smoothed, stored in a file, and played."""
