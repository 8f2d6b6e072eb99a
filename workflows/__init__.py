"""What happens, in order: experience lifecycle, outbox projector, retrieval. Deterministic and thin."""
