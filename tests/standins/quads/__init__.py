"""A stand-in for a QUADS server: what the tests drive the client against. It is not QUADS, and books nothing.

It follows what was seen on running servers of three kinds, their error bodies, dates and bugs included.
"""
