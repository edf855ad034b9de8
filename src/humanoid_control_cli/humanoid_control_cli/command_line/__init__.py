"""What all commands share: their numbers, and what they print."""
