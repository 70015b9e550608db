"""The audit log and its hash chains: reading, appending, verification and erasure."""
