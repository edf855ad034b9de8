"""Mode controllers of Humanoid Control and the mode manager that chooses among them."""
