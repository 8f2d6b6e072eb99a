"""The search index contract, against both adapters."""
