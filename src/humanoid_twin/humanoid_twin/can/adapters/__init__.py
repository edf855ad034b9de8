"""Adapters, the host's ends of the bus: serial line (slcan), SocketCAN."""
