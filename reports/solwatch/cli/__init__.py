"""The command line; each command imports what it needs only when it runs."""
