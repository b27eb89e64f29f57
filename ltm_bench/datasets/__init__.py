"""Published benchmarks, a folder each: its format, its official scorer, its matcher, and what is known of its errors.

`predictions` reads the prediction files that several of them share.
"""
