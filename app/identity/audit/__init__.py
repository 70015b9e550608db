"""The audit log: read it, append it to hash chains, verify the chains and erase them."""
