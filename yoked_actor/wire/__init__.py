"""The types of every message of the public protocol, and the documents made from them.

In each room, `http` holds bodies and answers, and `calls` the rows of the table of HTTP calls. In
`lobby`, `commands` come in over the socket and `events` go out; `rendering` makes events from the
notices and replies of the lobby. `contract` makes the AsyncAPI and OpenAPI documents.
"""
