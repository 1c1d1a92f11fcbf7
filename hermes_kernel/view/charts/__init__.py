"""Pictures of time and of amounts, in SVG, in text and in figures: `waterfall` of `spans`, `chart` of bars. Pure."""
