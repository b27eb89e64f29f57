"""A new memory product is one adapter and one entry in agents/driven.toml: everything else is made from these.

The product is fictional. Its two files are added to a copy of the checkout, and nothing else there is changed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "docs").is_dir(), reason="the source distribution has no documentation and no scripts"
    ),
]

PRODUCT = '''
class Store:
    """A product that keeps every sentence."""

    def __init__(self):
        self.rows = []

    def add(self, row):
        self.rows.append(row)

    def search(self, words):
        return sorted(self.rows, key=lambda row: -len(words & set(row[1].lower().split())))
'''

ADAPTER = '''"""Fiction: a product that nobody sells; it keeps whatever is said, and a core model answers from that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from ltm_bench import Memory, Turn
from ltm_bench.adapters import Forgotten, Inheriting, MemoryProduct, fingerprint, is_about, need


class Fiction(Inheriting, MemoryProduct):
    """Remembers every text.

    Args:
        base_url: The API of the core's model; default: the provider's.
        timeout: Seconds to wait for one answer of the core.
        max_retries: Retries of a failed request of the core.
        settings: Those of every `MemoryProduct`.
    """

    package = "fiction-memory"
    can_reopen = False  # nothing remains after the run

    def __init__(
        self, *, base_url: str | None = None, timeout: float = 120.0, max_retries: int = 4, **settings: Any
    ) -> None:
        core = {"base_url": base_url, "timeout": timeout, "max_retries": max_retries}
        super().__init__(None, core, **settings)

    async def open(self, home: Path) -> None:
        """Make an empty store."""
        await super().open(home)
        self._store = need("fiction", "fiction_memory").Store()
        self._forgotten = Forgotten(home / "forgotten.json")

    async def hear(self, turn: Turn) -> None:
        """Add what was said; nothing remains after the run, so no ledger is kept."""
        for half, text in enumerate(self._forgotten.left(turn, [turn.message.text, turn.reply.text])):
            if text.strip():
                self._store.add((turn, text, half))

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the texts that share the most words with a message."""
        return [self._memory(*row) for row in self._store.search(set(query.lower().split()))[:limit]]

    def _memory(self, turn: Turn, text: str, half: int) -> Memory:
        return Memory(text, turn.message.at, turn.message.turn, id=f"{turn.message.turn}/{half}")

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over everything."""
        for row in self._store.rows:
            yield self._memory(*row)

    async def forget(self, query: str) -> int:
        """Delete the texts about something."""
        gone = [row for row in self._store.rows if is_about(row[1], query)]
        self._store.rows = [row for row in self._store.rows if row not in gone]
        self._forgotten.add((fingerprint(turn), half) for turn, _, half in gone)
        return len(gone)
'''

ENTRY = """
[fiction]
how = "real"
product = "fiction"
package = "fiction-memory"
version = "1.2.3"
date = 2026-11-24
model = "scripted, as core"
module = "fiction_memory"
keeps = "nothing is kept"
runs = "everything here"
environment = "the core's key"
counts = "answers"
start = ["pip install fiction-memory==1.2.3", "ltm-bench run --agent fiction -A core=openai:gpt-6-luna"]

[[fiction.can]]
memories = "sentences"
resumed = "told its log again"
cost = "the core's"
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, with the fictional product."""
    place = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "golden", "_build")
    for folder in ("ltm_bench", "agents", "configs", "scenarios", "docs", "perf", "scripts", "tests"):
        shutil.copytree(ROOT / folder, place / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", place)
    (place / "fiction_memory.py").write_text(PRODUCT, "utf-8")
    (place / "agents" / "fiction.py").write_text(ADAPTER, "utf-8")
    with (place / "agents" / "driven.toml").open("a", encoding="utf-8") as file:
        file.write(ENTRY)
    return place


def said_by(copy: Path, *words: str) -> str:
    """Run Python in the copy, and return what it prints."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{copy}{os.pathsep}{copy / 'docs'}",
        "OPENAI_API_KEY": "no-key",
    }
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_product_is_listed_with_how_it_was_tried(copy: Path) -> None:
    listed = json.loads(said_by(copy, "-m", "ltm_bench", "list", "agents", "--json"))
    [row] = [row for row in listed if row["name"] == "fiction"]
    assert row["driven"] == "real: fiction 1.2.3, 2026-11-24"
    assert row["users"] == "together"


def test_a_new_product_is_in_every_table_of_the_documentation(copy: Path) -> None:
    code = "import agents_tables, json; print(json.dumps({n: t() for n, t in agents_tables.TEXTS.items()}))"
    made = json.loads(said_by(copy, "-c", code))
    rows = {
        "adapters": "| `fiction` | Fiction: a product that nobody sells; it keeps whatever is said, and a core model "
        "answers from that. | its own environment |",
        "tried": "| `fiction` | fiction 1.2.3 | real | 2026-11-24 | scripted, as core | all of it | "
        "its own environment | nothing is kept |",
        "abilities": "| `fiction` | yes | yes | not needed | sentences | yes | snapshot | no | "
        "told its log again | the core's |",
        "products": "| `fiction` | everything here | the core's key | answers |",
        "starting": "$ ltm-bench run --agent fiction -A core=openai:gpt-6-luna",
        "settings": "| `memories` | `20` | Number of memories recalled per message. |",
    }
    apart = {"servers", "seen"}  # of what servers send, and of what products do by themselves
    assert set(rows) == set(made) - apart
    for name, row in rows.items():
        where = made[name].partition("### fiction\n")[2] if name == "settings" else made[name]
        assert row in where.splitlines(), name


def test_a_new_product_gets_a_group_and_its_memory_is_measured(copy: Path) -> None:
    code = "import groups; g = groups.read_plan().groups['fiction']; print(g.packages, g.modules, *g.tests)"
    group = said_by(copy, "-c", f"import sys; sys.path.insert(0, 'scripts'); {code}")
    assert group.split() == [
        "('fiction-memory==1.2.3',)",
        "('fiction_memory',)",
        "tests/agents/test_conformance.py",
        "tests/agents/test_killed.py",
        "tests/agents/test_through_gateway.py",
    ]
    measured = said_by(copy, "-c", "from perf.memories import ROWS; print(ROWS['fiction'].settings)")
    assert measured.strip() == "{'core': 'openai:some-model'}"


@pytest.mark.long
def test_a_new_product_is_tested_like_the_others(copy: Path) -> None:
    tests = (
        "agents/test_conformance.py",
        "agents/test_killed.py",
        "plugins/test_driven.py",
        "test_groups.py",
    )
    words = ["-q", "-n", "0", "-p", "no:cacheprovider", "-rA", *(f"tests/{each}" for each in tests)]
    said = said_by(copy, "-m", "pytest", *words, "-k", "fiction or (test_groups and every)")
    passed = [line for line in said.splitlines() if line.startswith("PASSED")]
    for test in (
        "test_a_shipped_adapter_keeps_the_rules[fiction]",
        "test_whatever_an_adapter_uses_is_counted_with_its_next_reply[fiction]",
        "test_a_run_of_a_shipped_adapter_is_killed_and_then_ends_the_same[fiction]",
        "test_the_table_says_of_users_what_the_adapter_says[fiction]",
        "test_every_requirement_of_a_test_is_in_scripts_check_or_in_a_group_that_runs_it",
    ):
        assert any(line.endswith(test) for line in passed), said
