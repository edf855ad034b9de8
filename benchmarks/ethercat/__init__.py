"""Benchmarks of the eRob drives on a virtual ring."""
