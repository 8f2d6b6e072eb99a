"""Quality and speed, measured: run by `make bench`, never by `make check`."""
