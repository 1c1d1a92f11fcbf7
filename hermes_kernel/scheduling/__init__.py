"""The daily loop: jobs, who sees to it that they run, what a run is, and whom it tells."""
