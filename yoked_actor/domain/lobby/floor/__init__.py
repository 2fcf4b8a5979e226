"""The floor: the seats, matches and dates that are open now, with their books and timers."""
