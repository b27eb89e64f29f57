"""Tables of measurements, in Markdown: printed row by row, as they come, or inserted into a page."""

import re
from collections.abc import Callable


def table(*columns: str, names: int = 1) -> Callable[..., None]:
    """Print the head of a table, and return a function that prints a row of cells.

    Args:
        columns: The headings.
        names: How many columns, from the left, hold names; the others are aligned as figures.
    """

    def row(*cells: object) -> None:
        print(f"| {' | '.join(map(str, cells))} |", flush=True)

    row(*columns)
    print("|" + "---|" * names + "--:|" * (len(columns) - names))
    return row


def inserted(page: str, module: str, text: str) -> str:
    """Return a page with a text between the marks of the module that writes it."""
    begin, end = f"<!-- written by {module} -->", "<!-- until here -->"
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", page, flags=re.DOTALL)
