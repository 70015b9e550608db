"""The gunicorn worker class of this service: a slow client needs a buffer instead of a thread.

gunicorn.conf.py configures `worker.BufferingWorker`. One thread per process, the event loop, owns
the sockets. It reads requests and passes complete requests to the thread pool. If a client does not
read a response immediately, the connection goes back to the loop. So threads work only on complete
requests and on responses that are being read. Decision 0032 has the reasons and figures.

| Module      | Content                                                              |
|-------------|----------------------------------------------------------------------|
| limits      | limits for clients: sizes, numbers and minimum speed                 |
| bodies      | request bodies, in memory or in temporary files, with a total limit  |
| requests    | the parsing of a request                                             |
| responses   | the sending of a response                                            |
| refusals    | error responses of the server itself                                 |
| connections | the open connections, and the choice of connections to close         |
| sockets     | registration of sockets with the kernel, and closing of connections  |
| balance     | the distribution of new connections among worker processes           |
| loop        | the event loop                                                       |
| pool        | the threads that run the application                                 |
| supervision | the connection to the supervisor, and the end of workers             |
| worker      | the interface to gunicorn: start, heartbeat, graceful stop           |
"""
