"""What every part of Caselore agrees on: records, rules, limits, errors and ports.

Pure by rule: pydantic and the standard library only; no clock, no randomness, no I/O.
"""
