"""Values of every robot: joints, the MIT interface, calibration, description, namespace."""
