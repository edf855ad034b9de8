"""The eRob drive's firmware: what stands behind one EtherCAT slave controller of the twin."""
