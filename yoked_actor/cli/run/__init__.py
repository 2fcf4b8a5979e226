"""The work of the commands, imported when one runs. Their options are in `yoked_actor.cli`."""
