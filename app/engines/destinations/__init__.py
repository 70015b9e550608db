"""Destinations for finished files: object stores, file servers and web servers."""
