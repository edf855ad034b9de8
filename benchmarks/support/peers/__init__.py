"""Programs that benchmarks run beside the control process."""
