"""Nodes, topics and services in memory, with the delays of a seed."""
