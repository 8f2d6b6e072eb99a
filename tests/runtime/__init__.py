"""The runtime's service processes, with real processes."""
