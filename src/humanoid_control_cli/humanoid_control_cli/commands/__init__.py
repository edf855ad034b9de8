"""What `hc` understands, by subject. What is slow to load is loaded by the command needing it."""
