"""Kinds that move the arms: motions, trajectories, played files, payloads."""
