"""The eRob impedance manager: the gains of each mode, written to the drives over SDO."""
