"""Support of the benchmarks: figures, and the programs that they measure."""
