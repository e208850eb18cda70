"""The workflows of .github/workflows, run by act on this machine: ``make e2e``."""
