"""The retrieval engine: strategies interpreted over registry, experience and articles."""
