"""The process that holds a testbed: its namespaces, its devices and the programs in them.

It is its own process, as entering a user namespace takes one with a single thread, which Python's no longer is
once it has imported polars. It serves requests over a socket and passes descriptors with them (SCM_RIGHTS). All that
it makes depends on it: network namespaces are anonymous, so that they end with what holds them open; programs live in a
PID namespace, which the kernel empties when its first process, this one, ends. It ends when its socket closes or the
process that started it is gone, whatever killed that.

``entering`` makes its namespaces, ``serving`` answers requests, ``networks`` and ``programs`` do what is asked for,
``kernel`` has what Python lacks of Linux. Its modules import each other and the standard library only, and pyroute2.
"""
