"""chronoshard: a distributed job scheduler that never silently loses a run."""
