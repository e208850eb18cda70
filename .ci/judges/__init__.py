"""The same recorded rounds judged by the rules of other tools and by solwatch; see docs/reference/judges.md."""
