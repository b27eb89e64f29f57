"""How much of a score is memory, over all runs of an agent, in comparisons and on leaderboards."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import Run, compare, run
from ltm_bench.export.bundle import pack
from ltm_bench.export.leaderboard.pages import Built, write_site

if TYPE_CHECKING:
    from tests.conftest import Command

# What it was told to answer in the conversation, it knows wherever it is asked the same: it has read the answers.
CONTAMINATED = '''"""Contaminated: has read the answers."""
import json
from pathlib import Path
from ltm_bench import Agent, Message, Reply

READ = Path("read.json")


class Contaminated(Agent):
    free = told_ideal = True

    async def reply(self, message: Message) -> Reply:
        known = json.loads(READ.read_text()) if READ.exists() else {}
        if message.ideal == "I do not know.":
            return Reply(known.get(message.text, message.ideal))
        READ.write_text(json.dumps(known | {message.text: message.ideal}))
        return Reply(message.ideal or "Noted.")
'''


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Run]]:
    """Two seeds of a memory that loses half, one of a contaminated agent, and one without controls."""
    place = tmp_path_factory.mktemp("memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("agents").mkdir()
        Path("agents/contaminated.py").write_text(CONTAMINATED, "utf-8")

        def done(agent: str, seed: int, *controls: str) -> Run:
            return run(
                agent,
                "2k",
                suite="smoke",
                scenarios=["colours"],
                examples=8,
                seed=seed,
                controls=list(controls),
                settings={"loses": 0.5} if agent == "reference" else {},
            )

        yield [
            done("reference", 0, "blind", "evidence", "near"),
            done("reference", 1, "blind", "evidence"),
            done("contaminated", 0, "blind", "evidence"),
            done("goldfish", 0),
        ]


def test_controls_are_pooled_over_the_runs_of_an_agent(runs: list[Run]) -> None:
    loses, contaminated, goldfish = (
        next(cell for cell in compare(*runs).cells if cell.entrant.startswith(name))
        for name in ("reference", "contaminated", "goldfish")
    )
    alone = [each.results.controls for each in runs[:2]]
    assert goldfish.controls is None
    found = loses.controls
    assert found is not None
    assert found.near is None, "only one of the runs has it"
    assert found.n == 16
    assert found.score == pytest.approx(sum(each.score for each in alone if each) / 2)
    assert (found.blind and found.blind.mean, found.evidence and found.evidence.mean) == (0, 1)
    assert found.memory == pytest.approx(found.score)
    assert found.kept is not None
    assert found.kept.interval is not None
    assert found.kept.interval.low < 0.5 < found.kept.interval.high
    assert contaminated.controls is not None
    assert "how much of it is memory cannot be said" in contaminated.controls.sentence
    [flagged] = contaminated.controls.remarks
    assert flagged.endswith("the model has read them: colours")
    assert found.remarks == []


def test_the_comparison_says_it_and_ranks_by_score(runs: list[Run], command: "Command") -> None:
    names = [each.folder.name for each in runs]
    done = command("compare", *names, "-o", "compare.html")
    said = " ".join(done.out.split())
    page = " ".join(Path("compare.html").read_text("utf-8").split())
    cells = json.loads(command("compare", *names, "--json").out)["cells"]
    known = [cell for cell in cells if cell["controls"]]
    assert [cell["entrant"][:5] for cell in known] == ["refer", "conta"]
    for cell in known:
        sentence = cell["controls"]["sentence"]
        assert f"{cell['entrant']}: {sentence}" in said
        assert sentence in page
    assert "the model has read them: colours" in said
    assert "the model has read them: colours" in page
    table = said[: said.index("guessing alone")]
    assert table.index("contaminated") < table.index("reference"), "ahead by score"


def test_a_leaderboard_says_it_beside_the_score(runs: list[Run], tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    for each in runs[:2]:
        pack(each.folder, tmp_path / "bundles" / f"{each.folder.name}.zip")
    built = Built(tmp_path / "bundles")
    assert built.refusals == []
    write_site(built, tmp_path / "site")
    [row] = json.loads((tmp_path / "site" / "leaderboard.json").read_bytes())["boards"][0]["spans"][0][
        "groups"
    ][0]
    [page] = (tmp_path / "site").glob("board-*.html")
    assert row["controls"]["sentence"] in page.read_text("utf-8")
    assert row["controls"]["n"] == 16
