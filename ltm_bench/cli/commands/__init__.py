"""The commands: one file is one command, or one group of commands, with its options beside it.

The stem is the command's name (a trailing `_` is dropped), the first line of the docstring its line in `--help`, and
`register` adds it to the app. A file is imported when its command is called.
"""
