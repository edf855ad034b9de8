"""Topics of the control process: snapshots, diagnostics, safety, gravity, progress."""
