"""Find drift: compare samples from two periods, and report significant, large differences.

`comparing.compare` tests a pair of samples. `comparing.assign_outcomes` controls the false
discovery rate over all pairs of a run. A difference is drift if it is significant and its effect is
large enough. `process.find_drift` calls both functions in a child process, so that the caller does
not load scipy.

This package imports numpy and scipy only inside the functions that compute.
"""
