"""Settings of Fast DDS and of executors."""
