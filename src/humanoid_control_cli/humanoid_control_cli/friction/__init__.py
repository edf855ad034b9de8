"""`hc friction`: records, plots and checks friction maps."""
