"""A virtual EtherCAT ring: it answers raw frames as a line of CoE drives does."""
