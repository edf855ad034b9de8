"""The EtherCAT master: interface, frames, AL states, clocks, process data."""
