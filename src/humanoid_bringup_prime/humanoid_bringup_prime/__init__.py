"""Bring-up of Prime: which processes run with which parameters, for every back end."""
