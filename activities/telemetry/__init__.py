"""Adapters that hand measures to Prometheus and traces to OpenTelemetry."""
