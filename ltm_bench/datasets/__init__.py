"""Published benchmarks, a folder each: its format, its official scorer, its matcher, and its known errors.

`predictions` reads the prediction files that several of them share.
"""
