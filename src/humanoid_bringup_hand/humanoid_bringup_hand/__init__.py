"""Bring-up of Hand: configuration and launch files only."""
