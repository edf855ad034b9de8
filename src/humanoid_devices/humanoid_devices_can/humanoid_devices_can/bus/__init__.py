"""CAN bus access through python-can."""
