"""The commands: each file is one command, or one group of commands, with its options.

The stem is the command's name (a trailing `_` is dropped), the docstring's first line is its line in `--help`, and
`register` adds it to the app. A file is imported when its command is called.
"""
