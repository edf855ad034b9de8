"""Disturbances of machine and messages, and sabotage that the judge must convict."""
