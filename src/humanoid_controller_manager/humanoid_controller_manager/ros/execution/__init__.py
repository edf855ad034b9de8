"""Execution of callbacks, of calls from other threads, and of services that answer later."""
