"""What a robot says and does, kept: bags, and the black box."""
