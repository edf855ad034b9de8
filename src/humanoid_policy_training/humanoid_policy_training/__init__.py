"""Trains the reaching policy of Prime in simulation."""
