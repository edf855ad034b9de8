"""The EtherCAT slave controller (ESC): registers, sync managers, clocks, datagrams."""
