"""Plugins: finds and loads scenarios and adapters, which are files, and the matchers that logs name.

`files` lists and executes files, those of third parties too; `scenarios` loads scenarios; `catalogue` reads
all of them once per request; `matchers` finds matchers by name.
"""
