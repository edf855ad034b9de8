"""Torques of a robot's joints: gravity, payloads and their identification."""
