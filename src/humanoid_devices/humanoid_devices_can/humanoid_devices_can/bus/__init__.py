"""A CAN bus: slcan adapters on our own, all other interfaces through python-can."""
