"""Speed of light: ceilings of a device and how far a time is from them."""
