"""A stand-in for a QUADS server, for tests of the client. It is not QUADS, and books nothing.

It follows the observed behaviour of running servers of three kinds, including error bodies, dates and bugs.
"""
