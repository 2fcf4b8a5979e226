"""Every message that crosses the wire, typed; what is validated is what is documented.

`commands` comes in over the socket, `events` goes out, made by `rendering` from what the lobby
says, `http` is the same over HTTP, and `contract` turns these very types into the AsyncAPI and
OpenAPI documents.
"""
