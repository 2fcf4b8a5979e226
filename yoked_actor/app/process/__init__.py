"""The process around a server: its start, its signals, reloads, the service manager."""
