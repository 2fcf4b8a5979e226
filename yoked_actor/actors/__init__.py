"""The actors: each owns its state, and is the only one to change it.

The matchmaker owns the lobby, a session owns what is sent to one user, the clock owns time. They
share one thread and one nursery tree, so a method that does not await is atomic.
"""
