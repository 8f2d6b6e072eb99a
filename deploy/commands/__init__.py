"""What each subcommand of `caselore` does."""
