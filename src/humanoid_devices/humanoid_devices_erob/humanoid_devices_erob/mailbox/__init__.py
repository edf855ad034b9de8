"""Mailboxes of the slaves: SDO transfers beside the process data."""
