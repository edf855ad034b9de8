"""Numbers and output of all commands."""
