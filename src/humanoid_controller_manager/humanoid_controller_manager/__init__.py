"""The control loop: reads hardware, updates one mode controller, writes hardware."""
