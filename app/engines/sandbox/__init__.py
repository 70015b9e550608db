"""Run functions on untrusted bytes, with a separate confined process for each call.

A fork server imports the libraries once, and forks a process for each call. The process is confined
before it reads a byte of the document. It sends its results through a pipe, and exits. See
docs/contributors/documents.md and docs/decisions/0034.
"""
