"""Packs of third parties: installed distributions whose entry points add scenarios and adapters."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.errors import PluginError
from ltm_bench.plugins import files
from ltm_bench.plugins.catalogue import Catalogue
from tests.markdown import blocks

if TYPE_CHECKING:
    from tests.conftest import Command

SCENARIO = '''"""Kettle: which colour the kettle has."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

COLOURS = ("red", "blue", "green")


@scenario(skills={"recall"})
def kettle(dice: Dice, *, colours: tuple[str, ...] = COLOURS) -> Script:
    """Tell a colour, and ask for it."""
    colour = dice.choice(colours)
    yield Tell(f"My new kettle is {colour}.", at=0.0)
    yield Ask("Which colour is my kettle? Name it alone.", expect=names_only(colour, among=colours), at=1.0)
'''

ADAPTER = '''"""Yes-man: agrees with everything."""

from ltm_bench import Agent, Message, Reply


class YesMan(Agent):
    """Agrees."""

    free = True

    async def reply(self, message: Message) -> Reply:
        """Agree."""
        return Reply("Yes.")
'''


class Pack:
    """A distribution as pip installs it: its files, and a .dist-info folder that declares entry points."""

    def __init__(self, site: Path) -> None:
        self.site = site

    def install(self, name: str, entry_points: str, **content: str) -> None:
        for path, text in content.items():
            file = self.site / path.replace("__", "/")
            file = file.with_name(f"{file.name}.py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        info = self.site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(entry_points, "utf-8")


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pack]:
    site, here = tmp_path / "site", tmp_path / "here"
    site.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(str(site))
    yield Pack(site)
    for name in [name for name in sys.modules if name.startswith("tea_pack")]:
        del sys.modules[name]


TEA = (
    "[ltm_bench.scenarios]\ntea = tea_pack.scenarios\n\n"
    "[ltm_bench.agents]\nyes_man = tea_pack.adapters.yes_man\n"
)


@pytest.fixture
def tea(pack: Pack) -> Pack:
    pack.install(
        "tea-pack",
        TEA,
        tea_pack__scenarios__kettle=SCENARIO,
        tea_pack__scenarios___shared="raise SystemExit('a helper is no scenario')",
        tea_pack__adapters__yes_man=ADAPTER,
    )
    (pack.site / "tea_pack" / "__init__.py").write_text("raise SystemExit('listing executes nothing')\n")
    return pack


def test_the_files_of_a_pack_join_the_catalogue_and_nothing_is_executed(tea: Pack) -> None:
    found = files.catalogue("scenarios")
    assert found["kettle"] == tea.site / "tea_pack" / "scenarios" / "kettle.py"
    assert "colours" in found
    assert not {"__init__", "_shared"} & set(found)
    assert files.summary(found["kettle"]) == "Kettle: which colour the kettle has."
    assert files.catalogue("agents")["yes_man"] == tea.site / "tea_pack" / "adapters" / "yes_man.py"
    assert "tea_pack" not in sys.modules


def test_what_a_pack_adds_is_listed_and_runs(tea: Pack, command: "Command") -> None:
    assert "kettle" in command("list", "scenarios").out
    assert "yes_man" in command("list", "agents").out
    words = ("run", "--isolated", "--scenario", "kettle", "--examples", "2")
    done = command(*words, "--agent", "perfect")
    assert done.exit_code == 0, done.err
    assert "1.00/1" in done.err
    assert "0.00/1" in command(*words, "--agent", "yes_man").err


def test_two_packs_that_share_a_name_are_an_error_that_names_both(tea: Pack) -> None:
    tea.install(
        "other-pack",
        "[ltm_bench.scenarios]\nother = other_pack",
        other_pack__kettle=SCENARIO.replace("green", "grey"),
    )
    with pytest.raises(PluginError, match="two scenarios are called 'kettle'") as raised:
        files.catalogue("scenarios")
    assert str(tea.site / "tea_pack" / "scenarios" / "kettle.py") in str(raised.value)
    assert str(tea.site / "other_pack" / "kettle.py") in str(raised.value)


def test_a_pack_that_clashes_with_a_built_in_scenario_is_an_error(pack: Pack) -> None:
    pack.install("bad-pack", "[ltm_bench.scenarios]\nbad = bad_pack", bad_pack__colours=SCENARIO)
    with pytest.raises(PluginError, match="two scenarios are called 'colours'"):
        Catalogue.open()


@pytest.mark.parametrize(
    "module",
    [
        "gone_pack",
        "gone_pack.scenarios",
        "json.scenarios",
        "sys",
        "__main__",
        "",
        "/etc/passwd",
        "../../etc",
        "a b",
    ],
)
def test_a_pack_whose_files_are_gone_is_named(pack: Pack, module: str) -> None:
    pack.install("gone-pack", f"[ltm_bench.scenarios]\ngone = {module}")
    with pytest.raises(
        PluginError, match=r"the pack gone-pack declares ltm_bench\.scenarios = .* reinstall or remove"
    ):
        files.catalogue("scenarios")


@pytest.mark.parametrize("content", [b"[x]\ny = \xff\xfe", b"[x]\njust words", bytes(range(256))], ids=ascii)
def test_an_installed_package_whose_entry_points_cannot_be_read_is_named(
    tea: Pack, command: "Command", content: bytes
) -> None:
    tea.install("bad-pack", "")
    (tea.site / "bad-pack-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    done = command("list", "scenarios")
    assert done.exit_code == 1
    assert done.err == (
        "ltm-bench: bad-pack: its entry_points.txt cannot be read; reinstall or remove bad-pack\n"
    )


def test_a_pack_of_one_module_is_one_scenario(pack: Pack) -> None:
    pack.install("kettle-pack", "[ltm_bench.scenarios]\nkettle = kettle", kettle=SCENARIO)
    assert files.catalogue("scenarios")["kettle"] == pack.site / "kettle.py"


PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "packing.md"


def test_the_pack_of_the_tutorial_is_found_runs_and_is_missed_elsewhere(
    pack: Pack, command: "Command"
) -> None:
    for block in blocks(PAGE):
        if block.file:
            file = pack.site / Path(*Path(block.file).parts[1:])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
    project = tomllib.loads((pack.site / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    pack.install(project["name"], "\n".join(declared))
    here = pack.site / "kettle_memory"
    assert files.catalogue("scenarios")["kettle"].parent == here / "scenarios"
    assert files.catalogue("agents")["last_word"].parent == here / "agents"
    words = ("run", "--span", "2k", "--scenario", "kettle", "--agent")
    assert command(*words, "perfect", "--fail-under", "1").exit_code == 0
    assert command(*words, "last_word", "--name", "r").exit_code == 0
    assert "3 of 3 examples regenerated" in command("verify", "r").output
    sys.path.remove(str(pack.site))
    done = command("verify", "r")
    assert done.exit_code == 0
    assert "0 of 3 examples regenerated" in done.output
    assert "not regenerated: kettle: no such scenario here" in done.output
