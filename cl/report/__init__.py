"""From results to tables, plots and a page."""
