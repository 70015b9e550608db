"""Client-side deadlines of the database: a server that hangs or vanishes blocks no thread.

`deadlines` has libpq's own options, `connections` the connection class of the pools, `probe` a
question with a deadline, and `guard` the thread that asks it and the circuit that it opens.
"""
