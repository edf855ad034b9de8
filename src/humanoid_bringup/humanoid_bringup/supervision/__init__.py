"""Start, stop and reap several processes as one."""
