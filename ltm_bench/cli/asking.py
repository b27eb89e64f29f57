"""Asks a person at the terminal for decisions, and shows what they are about."""

from collections.abc import Set as AbstractSet

from ltm_bench.cli.console import out, safe


def ask_key(prompt: str, keys: AbstractSet[str], help_: str, *, words: bool = False) -> tuple[str, str]:
    """Ask until one of these keys is given; return it, and the words that followed it.

    Args:
        prompt: What is asked.
        keys: The keys besides `q`, in lower case.
        help_: Printed after anything else.
        words: Whether words may follow the key.

    Raises:
        EOFError: The key was `q`, which quits as the end of input does.
    """
    while True:
        said = input(prompt).strip()
        key, _, rest = said.partition(" ") if words else (said, "", "")
        key = key.lower()
        if key == "q":
            raise EOFError
        if key in keys:
            return key, rest.strip()
        out().print(help_)


def print_titled(*lines: tuple[str, str]) -> None:
    """Print texts with their titles before them."""
    for title, text in lines:
        out().print(f"{safe(title):<9} {safe(text)}")
