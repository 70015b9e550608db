"""Request field values from a language model, and locate the values of its answer in the document.

The protocol is that of OpenAI's chat completions with structured output, which most model servers
support. All functions are pure; the caller sends the request.
"""
