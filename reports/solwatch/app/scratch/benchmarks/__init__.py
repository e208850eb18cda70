"""A suite of cells whose amount of work is known."""
