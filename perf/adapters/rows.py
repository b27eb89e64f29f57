"""The adapters that are tried, with their settings, and why some cells do not apply to some of them."""

import sys
from dataclasses import dataclass, field

TIMEOUT, RETRIES = 2.0, 3
PATIENCE = (f"timeout={TIMEOUT}", f"max_retries={RETRIES}")


@dataclass(frozen=True)
class Row:
    """An adapter, and the cells that do not apply to it."""

    name: str
    agent: str
    settings: tuple[str, ...] = ()
    base: str = ""
    """Which of the server's addresses it uses as its base_url."""
    narrow: tuple[str, ...] = ()
    """Settings with which a conversation outgrows the adapter's window."""
    keeps: bool = False
    """Whether it cannot work without its folder."""
    not_for: dict[str, str] = field(default_factory=dict)

    @property
    def remote(self) -> bool:
        """Whether it calls the server."""
        return bool(self.base)


CHAT = ("model=some-model", *PATIENCE)
NARROW = ("window=2200", "max_output=200", "truncate=none")
OPENAI = ("embedder=openai:some-embedder", "core=openai_chat:some-model", *PATIENCE)
HERE = "it asks nobody elsewhere"
ROWS = (
    Row("openai_chat", "openai_chat", CHAT, "openai", NARROW),
    Row("openai_responses", "openai_responses", CHAT, "openai", NARROW),
    Row("anthropic_chat", "anthropic_chat", CHAT, "anthropic", NARROW),
    Row(
        "vector_memory (local, extractive)",
        "vector_memory",
        not_for={
            "timeout": HERE,
            "429": HERE,
            "overflow": "what it recalls is bounded, and it has no window",
        },
    ),
    Row("vector_memory (openai, openai_chat)", "vector_memory", OPENAI, "openai"),
    Row(
        "http",
        "http",
        ("request=say.text", "reply=said.text", "session=who", "time=say.at", *PATIENCE),
        "chat",
        keeps=True,
    ),
    Row(
        "command",
        "command",
        (f"command={sys.executable} theirs.py", "observe=true", f"timeout={TIMEOUT}"),
        not_for={
            "429": HERE,
            "overflow": "it manages its own window, and the protocol cannot report an overflow",
        },
    ),
    Row(
        "function",
        "python:theirs:Theirs",
        not_for={
            "timeout": "it runs in this process, and nothing can stop it",
            "429": HERE,
            "overflow": "its window is its own",
        },
    ),
)
