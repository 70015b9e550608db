"""Run the service on one machine: embedded servers, the supervisor and the command line.

The application imports nothing from this package. The supervisor process stays small: only its
child `prepare` imports Flask and SQLAlchemy.
"""
