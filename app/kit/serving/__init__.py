"""gunicorn's worker class of this service: slow clients cost a buffer instead of a thread.

`worker.BufferingWorker` is what gunicorn.conf.py names. One thread per process, the loop, owns the
sockets. It reads requests and hands complete ones to the thread pool; what a client does not take
of a response at once goes back to the loop. So a thread works only on requests that are complete
and on responses that somebody reads. Decision 0032 has the reasons and the figures.

| Module      | Content                                                             |
|-------------|---------------------------------------------------------------------|
| limits      | how much a client may send, and how slowly                          |
| bodies      | request bodies, in memory or in temporary files, within a bound     |
| requests    | a request from its first byte to its last                           |
| responses   | a response on its way to the client                                 |
| refusals    | what the server itself answers                                      |
| connections | the open connections, and which to close when there are too many    |
| loop        | the event loop and the thread pool                                  |
| worker      | gunicorn's side: start, sign of life, graceful stop                 |
"""
