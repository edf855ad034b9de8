"""An open bus: its threads, its queue, and the motors that answer on it."""
