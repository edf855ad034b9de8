"""Judge a trial by the truth of the virtual robot and by the reports of the stack."""
