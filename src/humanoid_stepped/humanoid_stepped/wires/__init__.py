"""The cables in memory between the stack and the virtual robot."""
