"""Build requests to a language model for field values, and locate the answers in the document.

The protocol is that of OpenAI's chat completions with structured output, which most model servers
support. No function has side effects; the caller sends the request.
"""
