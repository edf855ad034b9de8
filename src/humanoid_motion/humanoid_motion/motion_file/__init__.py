"""Motions that were taught: recorded, smoothed, kept in a file, and played."""
