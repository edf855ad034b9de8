"""What every robot has: joints, the MIT interface, calibration, description, namespace."""
