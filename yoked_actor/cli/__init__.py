"""The command line: one module per command, with its options and help; the work is in `run`."""
