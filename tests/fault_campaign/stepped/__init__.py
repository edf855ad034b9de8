"""The campaign on the stepped robot: every trial is repeatable, and needs no wall time."""
