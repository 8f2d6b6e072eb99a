"""Public data sets turned into case files; the data stays outside the project and is read in place."""
