"""The edge: bytes in, bytes out. One port, WebSocket and HTTP, limits, pages."""
