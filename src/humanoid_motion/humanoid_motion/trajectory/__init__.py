"""Trajectories: received points, polynomials between them, limits, tolerances, stops."""
