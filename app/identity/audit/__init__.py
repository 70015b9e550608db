"""The audit log: reading it, sealing it into chains, verifying and erasing them."""
