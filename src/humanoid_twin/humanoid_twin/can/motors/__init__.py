"""Motors on the bus: families, their firmware, and the boards they run on."""
