"""Where an edge takes its samples from."""
