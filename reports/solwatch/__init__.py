"""solwatch: tells on every commit whether a fused kernel got slower, and how far it is from the speed of light."""

__version__ = "0.1.0"
PROTOCOL = 1
"""Number of the measuring protocol; times taken under different numbers are never compared."""
