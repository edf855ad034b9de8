"""What benchmarks share: figures, and the programs they measure."""
