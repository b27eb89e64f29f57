"""The command line: the only room that prints, reads arguments, or exits."""

# Empty: pytest imports it in every session that has the plug-in, and Typer would come with it.
