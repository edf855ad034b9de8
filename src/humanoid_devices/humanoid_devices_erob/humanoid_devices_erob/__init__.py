"""The eRob servos on EtherCAT as a hardware component."""
