"""What runs the service on one machine: embedded servers, the supervisor and the command line.

Nothing here is imported by the application. The supervisor process stays small: only `prepare`
and `demo`, which run as children, import Flask and SQLAlchemy.
"""
