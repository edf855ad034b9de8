"""Faults that meet one another, or meet what is under way."""
