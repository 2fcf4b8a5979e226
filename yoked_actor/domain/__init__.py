"""The pure core: what the system decides, with no clock, no randomness and no input or output.

Everything here is a function of its arguments. Time comes in as an `Instant`, identity as a user
id, and what must happen in the world comes out as values. That is why the whole of it can be run
backwards, replayed and searched by property tests.

Values never refer back to what holds them, so they are kept out of the garbage collector's sight
(`gc=False`): thousands come and go in a second, and each look at them would find nothing.
"""
