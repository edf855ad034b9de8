"""YAML files and parameters of nodes as typed values."""
