"""The arguments of a measurement."""

import argparse


def parser_for(docstring: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of a measurement, as it stands."""
    return argparse.ArgumentParser(
        description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter
    )
