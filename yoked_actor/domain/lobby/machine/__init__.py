"""The machine: what each event does to the floor."""
