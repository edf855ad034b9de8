"""The virtual robot: it answers on the wire like the real drives and motors."""
