"""The arguments of a measurement, and its beginning."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

Arguments = argparse.Namespace


def measurement(
    docstring: str | None, **options: Any
) -> Callable[[Callable[[Arguments], None]], Callable[..., None]]:
    """Return a decorator that makes a program of the last function of a module; its help is the docstring as it stands.

    Args:
        docstring: The module's docstring.
        options: The default of each option, perhaps with a help text; one that is False is a flag. A type stands for an
            argument that has to be given; a dictionary is what argparse is told, with a default if it is an option.
    """

    def decorate(function: Callable[[Arguments], None]) -> Callable[..., None]:
        def main(given: Sequence[str] | None = None) -> None:
            function(_parser(docstring, options).parse_args(given))

        if function.__module__ == "__main__":  # it is run, not imported
            main()
        return main

    return decorate


def _parser(docstring: str | None, options: dict[str, Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, told in options.items():
        default, about = told if isinstance(told, tuple) else (told, None)
        flag = f"--{name.replace('_', '-')}"
        if isinstance(default, dict):
            parser.add_argument(flag if "default" in default else name, **default)
        elif isinstance(default, type):
            parser.add_argument(name, type=default, help=about)
        elif default is False:
            parser.add_argument(flag, action="store_true", help=about)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=about)
    return parser
