"""The virtual CAN bus: bit times, arbitration, acknowledgement, error counters, and its motors."""
