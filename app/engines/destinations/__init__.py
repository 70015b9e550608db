"""Deliver finished files to object stores, file servers and web servers."""
