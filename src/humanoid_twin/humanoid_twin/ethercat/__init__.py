"""A virtual EtherCAT ring: answers raw frames as a line of CoE drives does."""
