"""Charts as inline SVG: coloured by the page's style sheet, readable without colour, no script."""
