"""The commands that start a process and run until a signal: serve, demo, worker."""
