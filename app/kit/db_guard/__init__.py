"""Client-side timeouts for database connections.

They prevent a server that hangs or disappears from blocking threads. `deadlines` defines libpq
options, `connections` defines the connection class of the pools, and `probe` defines a health check
with a timeout. `guard` defines the thread that runs the health check and opens the circuit breaker.
"""
