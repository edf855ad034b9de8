"""The machine that a process runs on: clocks, waits, threads and their priority."""
