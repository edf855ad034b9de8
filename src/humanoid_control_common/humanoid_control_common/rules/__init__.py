"""Modes, safety reports and reasons: the rules that all programs share."""
