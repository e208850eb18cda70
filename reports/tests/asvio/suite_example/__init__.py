"""A made-up asv suite that has one of everything asv knows, some of it broken."""
