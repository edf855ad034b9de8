"""`hc policy`: learned policies."""
