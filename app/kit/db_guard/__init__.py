"""Client-side timeouts of the database, so that a server that hangs or vanishes blocks no thread.

`deadlines` defines options of libpq, `connections` the connection class of the pools, `probe` a
health check with a timeout, and `guard` the thread that runs it and opens the circuit breaker.
"""
