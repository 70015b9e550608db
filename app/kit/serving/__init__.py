"""The gunicorn worker class of this service. A slow client occupies a buffer instead of a thread.

gunicorn.conf.py configures `worker.BufferingWorker`. In each process, one thread runs the event
loop, which owns the sockets. The loop reads requests, and passes complete requests to the thread
pool. If a client does not read a response immediately, the connection goes back to the loop.
Therefore, threads work only on complete requests and on responses that clients are reading.
Decision 0032 explains the reasons and contains measurements.

| Module      | Content                                                              |
|-------------|----------------------------------------------------------------------|
| limits      | limits for clients: sizes, counts, timeouts and minimum speed        |
| bodies      | request bodies, in memory or in temporary files, with a total limit  |
| requests    | parsing of requests                                                  |
| responses   | production and sending of responses                                  |
| refusals    | error responses that the server itself sends                         |
| connections | the open connections, and the selection of connections to close      |
| sockets     | registration of sockets with the kernel, and closing of connections  |
| balance     | distribution of new connections among worker processes               |
| loop        | the event loop                                                       |
| pool        | the threads that run the application                                 |
| supervision | the connection to the supervisor, and the lifetime of workers        |
| worker      | the interface to gunicorn: start, heartbeat, graceful stop           |
"""
