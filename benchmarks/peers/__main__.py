"""``python -m benchmarks.peers``; imports nothing where asv imports it."""

import sys

if __name__ == "__main__":
    from benchmarks.peers.comparison.command import main

    sys.exit(main())
