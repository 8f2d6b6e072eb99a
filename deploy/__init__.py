"""How Caselore is put together and run: settings, wiring, worker, embedded runtime, command line."""
