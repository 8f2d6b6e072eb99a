"""The requirements from end to end: the whole product through its public path."""
