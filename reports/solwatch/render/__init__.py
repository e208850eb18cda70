"""Reports: one view model, then one output format a file. Only here are SI figures turned into human units."""
