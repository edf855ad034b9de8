"""`hc mode`, `status`, `stop`, `down`, `clear-fault`, `heartbeat`: a robot that is up."""
