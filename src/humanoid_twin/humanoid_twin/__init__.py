"""The virtual robot: answers on the wire like Prime's drives."""
