"""The MCP server: the retrieval contract as a few tools for an agent's model, over HTTP and standard input/output."""
