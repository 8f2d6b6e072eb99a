"""Finding personal data by form, checksum, numbering plan and place (R6)."""
