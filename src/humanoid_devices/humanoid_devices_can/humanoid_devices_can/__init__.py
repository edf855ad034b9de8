"""MIT motors on a CAN bus: what all families share."""
