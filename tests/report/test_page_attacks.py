"""Texts that would be more than text on a page: wherever they stand in a run, no page holds an element of theirs.

A case is a text made by dice from the pieces of attacks, put into every place at once that an agent, a judge or a user
fills, and each page that is made of the run.
"""

import json
import random
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

CASES = 20
"""Texts; each is looked for on five pages."""
MARK = "ltmzq"
"""Stands in each element, attribute, address and style that an attack would make."""

OUT = (
    "",
    '"',
    "'",
    "`",
    "-->",
    "]]>",
    "</script>",
    "</style>",
    "</title>",
    "</textarea>",
    "</svg>",
    "</template>",
    "\\x3c",
    "&quot;&gt;",
)
MADE = (
    f"<{MARK} x=1>",
    f"<img src={MARK} onerror={MARK}()>",
    f"<svg/onload={MARK}()>",
    f"<script>{MARK}()</script>",
    f"<ScRiPt\n>{MARK}()</sCrIpT >",
    f"<a href=javascript:{MARK}()>x</a>",
    f"<a href='data:text/html,{MARK}'>x</a>",
    f"<iframe srcdoc='&lt;{MARK}&gt;'></iframe>",
    f"<style>@import '//{MARK}'</style>",
    f"<base href=//{MARK}>",
    f"<form action=//{MARK}><button>",
    f"<meta http-equiv=refresh content='0;url=//{MARK}'>",
    f"<object data=//{MARK}>",
    f"<details open ontoggle={MARK}()>",
    f"<math><mi xlink:href=javascript:{MARK}()>",
    f"{{{{{MARK}}}}}{{% set {MARK}=1 %}}",
    f'" onmouseover="{MARK}()" x="',
    f"' style='background:url(//{MARK})' x='",
    f"<!--{MARK}",
    f"<?{MARK}?>",
    f"<![CDATA[<{MARK}>]]>",
    f"[x](javascript:{MARK}) ![x](//{MARK})",
    f"&lt;{MARK}&gt; &#60;{MARK}&#62;",
)
ROUND = (
    "",
    "\u0000",
    "\u202e",
    "\ufeff",
    "\u2028",
    "\x0b",
    "\x0c",
    "\ufdd0",
    "\U000e0001",
    "＜script＞",
    "+ADw-script+AD4-",
    "\r\n\r\n",
    "\\u003c",
    "%3c",
    "<<",
    "a" * 3000,
)


def text(number: int) -> str:
    """Return an attack: what ends the text around it, what it makes, and what hides it."""
    dice = random.Random(f"pages {number}")
    return "".join(
        dice.choice(pieces)
        for pieces in (ROUND, OUT, OUT, (MADE[number % len(MADE)],), ROUND, OUT, MADE, ROUND)
    )


class Page(HTMLParser):
    """Finds what a page has become by what stands in it."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._raw = ""
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._raw = tag if tag in ("script", "style") else ""
        if MARK in tag or tag in ("iframe", "base", "object", "embed"):
            self.found.append(f"<{tag}>")
        if tag == "meta" and MARK in str(attrs) and "http-equiv" in dict(attrs):
            self.found.append("<meta http-equiv>")
        for name, value in attrs:
            address = (value or "").strip().lower()
            if MARK in name or (name.startswith("on") and MARK in address):
                self.found.append(f"<{tag} {name}>")
            if name in ("src", "href", "action", "style", "srcdoc", "data", "xlink:href", "http-equiv") and (
                MARK in address and not address.startswith("#") and not re.match(r"[\w.%-]*\.html", address)
            ):
                self.found.append(f"<{tag} {name}={address:.60}>")

    def handle_data(self, data: str) -> None:
        if (self._raw == "style" and MARK in data) or (
            self._raw == "script" and data.strip().startswith(MARK)
        ):
            self.found.append(f"in <{self._raw}>: {data[:60]}")

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.found.append(f"in a comment: {data[:60]}")

    def handle_pi(self, data: str) -> None:
        if MARK in data:
            self.found.append(f"in an instruction: {data[:60]}")

    def unknown_decl(self, data: str) -> None:
        if MARK in data:
            self.found.append(f"in a declaration: {data[:60]}")


NASTY = '''"""Nasty."""

from pathlib import Path

from ltm_bench import Agent, AgentError, Finding, Message, Reply, Usage

TEXT = Path("text.txt").read_text("utf-8")


class Nasty(Agent):
    free = True

    def __init__(self, note: str = "") -> None:
        self.note, self.heard = note, 0

    async def reply(self, message: Message) -> Reply:
        self.heard += 1
        return Reply(f"{TEXT} {message.text[-80:]} {TEXT}", Usage(model=TEXT[:200]))
'''
JUDGE = '''"""A judge."""

import json
from pathlib import Path

from ltm_bench import Agent, Message, Reply


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        text = Path("text.txt").read_text("utf-8")
        return Reply(json.dumps({"reason": text, "score": 1, "outcome": "correct", "answer": "yes"}))
'''
SCENARIO = '''"""Mine: {about}"""
from ltm_bench import *


@scenario(skills={{"recall"}})
def mine(dice):
    yield Tell({text!r})
    yield Ask({text!r} + " Which?", expect=names_only("red", among=("red", "blue")), at=1.0)
'''


def pages(command: "Command", place: Path, number: int) -> Iterator[tuple[str, str]]:
    """Make a run that holds this text wherever one may stand; yield its pages."""
    attack = text(number)
    for folder in ("agents", "scenarios"):
        (place / folder).mkdir()
    (place / "text.txt").write_text(attack, "utf-8", newline="")
    (place / "agents" / "nasty.py").write_text(NASTY, "utf-8")
    (place / "agents" / "judge_x.py").write_text(JUDGE, "utf-8")
    said = attack.replace("\0", "").replace("{", "(").replace("\\", "/")
    (place / "scenarios" / "mine.py").write_text(SCENARIO.format(about="x", text=attack), "utf-8")
    named = "".join(each for each in said if each.isprintable())[:400]
    for name in ("r", "q"):
        words = (
            "--scenario",
            "mine",
            "--scenario",
            "colours",
            "--span",
            "8k",
            "--examples",
            "1",
            "--agent",
            "nasty",
        )
        done = command(
            "run",
            *words,
            "--name",
            name,
            "--tag",
            f"note={named}",
            "-A",
            f"note={named}",
            "--seed",
            "0" if name == "r" else "1",
        )
        assert done.exit_code == 0, done.err
    done = command("rescore", "r", "--judge", "judge_x")
    assert done.exit_code in (0, 1, 3), done.err  # 3: what the judge said cannot be read
    assert command("compare", "r", "q", "-o", "compare.html").exit_code == 0
    done = command("bundle", "r", "-o", "r.zip")
    assert done.exit_code == 0, done.err
    assert command("leaderboard", "build", ".", "-o", "board").exit_code == 0
    for path in (
        *(place / "reports").rglob("*.html"),
        place / "compare.html",
        *(place / "board").rglob("*.html"),
    ):
        yield path.relative_to(place).as_posix(), path.read_text("utf-8")


def wrong(command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> list[str]:
    place = tmp_path / str(number)
    place.mkdir()
    monkeypatch.chdir(place)
    looked = list(pages(command, place, number))
    assert len(looked) >= 5
    assert any(MARK in page for _, page in looked)
    wrong = [f"{number} {name}: {found}" for name, page in looked for found in Page(page).found]
    raw = [
        f"{number} {name}: a control character"
        for name, page in looked
        if re.search(r"[\0-\x08\x0b\x0c\x0e-\x1f]", page)
    ]
    found = json.loads((place / "reports" / "r" / "results.json").read_text("utf-8"))
    assert found["agent"]
    return wrong + raw


def test_a_text_of_an_attack_would_be_found() -> None:
    assert all(Page(f"<p>{each}").found for each in MADE[:15])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, CASES, 7))
def test_no_text_becomes_more_than_text(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    assert wrong(command, tmp_path, monkeypatch, number) == []


@pytest.mark.long
@pytest.mark.parametrize("number", range(CASES))
def test_no_text_of_twenty_becomes_more_than_text_on_any_page(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    assert wrong(command, tmp_path, monkeypatch, number) == []
