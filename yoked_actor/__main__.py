"""`python -m yoked_actor`, the same program as `yoked-actor`."""

from __future__ import annotations

from yoked_actor.cli.main import main

if __name__ == "__main__":
    main()
