"""Impedance of the eRobs: the registers of each mode, and the SDO batches that write them."""
