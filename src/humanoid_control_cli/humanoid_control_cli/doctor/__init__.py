"""`hc doctor`, `hc decode`, `hc version`: this machine, and the drives' numbers."""
