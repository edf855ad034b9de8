"""MIT motors on a CAN bus: the common part of all families."""
