"""The eRob drive: state machine, cascaded loops and object dictionary."""
