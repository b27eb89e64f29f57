"""The transcript, `transcript.html`: every turn of a run, written while the log is read.

    with TranscriptWriter(run / "transcript.html", manifest) as writer:
        writer.finish(score_run(run, manifest, listener=writer))

The page's head has figures known only at the end, so turns go into a draft beside the page, and `finish` joins the two.
At most one turn is held in memory, besides those that a judge has yet to decide. The page is replaced atomically.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, TextIO

from ltm_bench.log.events import Jumped, Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.report.anchors import anchor
from ltm_bench.report.templating import macro, templates
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.fold import TurnListener, planned
from ltm_bench.score.results.run import Results

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST_TURN = 100_000
"""Maximum characters of a message or reply in the transcript; the event log has all of them."""

_BLOCK = 1 << 16
"""Characters of the draft copied at a time."""


class _HeldTurn(NamedTuple):
    """A turn whose verdict is not known yet."""

    place: int
    """Characters of the draft before it."""
    sent: Sent
    replied: Replied | None
    forked: bool


class TranscriptWriter(TurnListener):
    """Writes the transcript of a run, turn by turn; it listens to a `Fold`.

    Leaving the `with` block without `finish` discards the draft and leaves an older transcript as it was.

    Args:
        target: The page.
        manifest: The run's manifest.
        judged: Whether readers or judges may still decide questions; these are held, and written by `finish`.
    """

    def __init__(self, target: Path, manifest: Manifest, *, judged: bool = False) -> None:
        self._target = target
        # Another process may write one, too.
        self._draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
        self._whole = target.with_name(f".{target.name}.{os.getpid()}.new")
        self._manifest = manifest
        self._numbers = {example: number for number, example in enumerate(planned(manifest))}
        self._conversation = templates().get_template("conversation.html.jinja")
        self._turn = macro("turn.html.jinja", "turn")
        self._jump = templates().get_template("jump.html.jinja")
        self._in_conversation = False
        self._judged = judged
        self._held: list[_HeldTurn] = []
        self._written = 0
        """Characters of the draft so far."""

    def __enter__(self) -> Self:
        self._body = self._draft.open("w", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._body.close()
        finally:
            for path in (self._draft, self._whole):
                with suppress(OSError):
                    path.unlink()

    def conversation(self, example: str | None) -> None:
        """Begin a conversation: an isolated example's, or (None) the only one."""
        self._end()
        self._write(self._conversation.render(title=example or "The conversation"))
        self._in_conversation = True

    def turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool = False
    ) -> None:
        """Write a turn; see `TurnListener`."""
        if self._judged and question is not None and (question.for_judges or question.for_reader):
            # Its verdict is not known yet: readers and judges are asked when the log has been read.
            self._held.append(_HeldTurn(self._written, sent, replied, forked))
        else:
            self._write(self._rendered(sent, replied, question, forked=forked))

    def _rendered(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool
    ) -> str:
        return self._turn(
            sent=sent,
            replied=replied,
            question=question,
            forked=forked,
            id=anchor(sent.turn, sent.example or "", isolated=self._manifest.suite.isolated),
            number=self._numbers.get(sent.example or ""),
            longest=LONGEST_TURN,
        )

    def jumped(self, jumped: Jumped) -> None:
        """Write that the benchmark's clock jumped."""
        self._write(self._jump.render(jumped=jumped))

    def finish(self, results: Results) -> None:
        """Put the page together and replace the transcript with it."""
        self._end()
        self._body.close()
        page = templates().get_template("transcript.html.jinja")
        with self._draft.open(encoding="utf-8", newline="") as body, self._whole.open("wb") as file:
            chunks = page.generate(
                results=results,
                manifest=self._manifest,
                examples=list(self._numbers),
                body=self._markup(body, results),
            )
            file.writelines(chunk.encode() for chunk in chunks)
        os.replace(self._whole, self._target)

    def _end(self) -> None:
        if self._in_conversation:
            self._write("</section>")
            self._in_conversation = False

    def _write(self, part: str) -> None:
        self._written += self._body.write(part + "\n")

    def _markup(self, body: TextIO, results: Results) -> Iterator[Markup]:
        """Yield the draft, which was escaped when it was written, with the held turns at their places."""
        from markupsafe import Markup

        questions = {(e.id, q.turn): q for e in results.examples for q in e.questions}
        at = 0
        for held in self._held:
            while at < held.place:
                block = body.read(min(_BLOCK, held.place - at))
                at += len(block)
                yield Markup(block)  # every text in it went through a template
            question = questions.get((held.sent.example or "", held.sent.turn))
            yield Markup(self._rendered(held.sent, held.replied, question, forked=held.forked) + "\n")
        while block := body.read(_BLOCK):
            yield Markup(block)
