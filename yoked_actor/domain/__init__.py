"""The pure core: every decision, without a clock, randomness or I/O.

Everything here is a function of its arguments. Time comes in as an `Instant`, and effects come out
as values, so that property tests can replay and search all of it.

Values never form reference cycles, so the garbage collector does not track them (`gc=False`):
thousands are created each second, and a collection would free none of them.
"""
