"""Bring-up of Lite: configuration and launch files only."""
