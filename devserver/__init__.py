"""Run the whole service on one machine: embedded servers, the supervisor and the command line.

The application imports nothing from this package. The supervisor process stays small, because it
imports neither Flask nor SQLAlchemy; its child `prepare` does.
"""
