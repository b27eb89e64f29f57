"""The arguments of a measurement."""

import argparse
from typing import Any


def parser_for(docstring: str | None, **options: Any) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a measurement, as it stands.

    Args:
        docstring: The docstring.
        options: The default of each option, perhaps with a help text; one that is False is a flag. A type stands for an
            argument that has to be given.
    """
    parser = argparse.ArgumentParser(
        description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, told in options.items():
        default, about = told if isinstance(told, tuple) else (told, None)
        flag = f"--{name.replace('_', '-')}"
        if isinstance(default, type):
            parser.add_argument(name, type=default, help=about)
        elif default is False:
            parser.add_argument(flag, action="store_true", help=about)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=about)
    return parser
