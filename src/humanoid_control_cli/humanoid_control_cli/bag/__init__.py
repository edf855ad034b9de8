"""Recording what a robot says, and saying it again."""
