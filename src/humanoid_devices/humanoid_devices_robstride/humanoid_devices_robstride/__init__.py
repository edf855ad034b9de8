"""Robstride motors on CAN."""
