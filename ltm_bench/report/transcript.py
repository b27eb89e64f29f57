"""The transcript, `transcript.html`: every turn of a run, written while the log is read.

    with TranscriptWriter(run / "transcript.html", manifest) as writer:
        writer.finish(score_run(run, manifest, listener=writer))

The page's head has figures known only at the end, so turns go into a draft beside the page, and `finish` joins the two.
At most one turn is held in memory. The page is replaced atomically.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from ltm_bench.log.events import Forked, Jumped, Replied, Sent
from ltm_bench.log.forks import answers_in
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_events, read_manifest
from ltm_bench.report.anchors import anchor
from ltm_bench.report.templating import macro, templates
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.fold import planned
from ltm_bench.score.results.run import Results

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST_TURN = 100_000
"""Maximum characters of a message or reply in the transcript; the event log has all of them."""

_BLOCK = 1 << 16
"""Characters of the draft copied at a time."""


class TranscriptWriter:
    """Writes the transcript of a run, turn by turn; it listens to `score_run`.

    Leaving the `with` block without `finish` discards the draft and leaves an older transcript as it was.
    """

    def __init__(self, target: Path, manifest: Manifest) -> None:
        self._target = target
        self._draft = target.with_name(f".{target.name}.draft")
        self._whole = target.with_name(f".{target.name}.new")
        self._manifest = manifest
        self._numbers = {example: number for number, example in enumerate(planned(manifest))}
        self._conversation = templates().get_template("conversation.html.jinja")
        self._turn = macro("turn.html.jinja", "turn")
        self._jump = templates().get_template("jump.html.jinja")
        self._in_conversation = False

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

    def turn(self, sent: Sent, replied: Replied | None, question: Question | None) -> None:
        """Write a turn.

        Args:
            sent: The message.
            replied: The agent's answer; None if it did not answer.
            question: The scored question, for a turn that has one.
        """
        self._write_turn(sent, replied, question, forked=False)

    def forked(self, sent: Sent, replied: Replied | None, question: Question | None) -> None:
        """Write a forked question, at its place."""
        self._write_turn(sent, replied, question, forked=True)

    def _write_turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool
    ) -> None:
        self._write(
            self._turn(
                sent=sent,
                replied=replied,
                question=question,
                forked=forked,
                id=anchor(sent.turn, sent.example or "", isolated=self._manifest.suite.isolated),
                number=self._numbers.get(sent.example or ""),
                longest=LONGEST_TURN,
            )
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
                results=results, manifest=self._manifest, examples=list(self._numbers), body=_markup(body)
            )
            file.writelines(chunk.encode() for chunk in chunks)
        os.replace(self._whole, self._target)

    def _end(self) -> None:
        if self._in_conversation:
            self._write("</section>")
            self._in_conversation = False

    def _write(self, part: str) -> None:
        self._body.write(part + "\n")


def _markup(body: TextIO) -> Iterator[Markup]:
    """Yield the draft, which was escaped when it was written."""
    from markupsafe import Markup

    while block := body.read(_BLOCK):
        yield Markup(block)  # every text in it went through a template


def render_transcript(run: Path, results: Results, target: Path) -> None:
    """Write the transcript of a run from its log.

    Args:
        run: The run folder.
        results: The same run's results.
        target: The page to write.
    """
    manifest = read_manifest(run)
    questions = {(e.id, q.turn): q for e in results.examples for q in e.questions}
    names = {e.id.replace("/", "-"): e.id for e in results.examples}
    with TranscriptWriter(target, manifest) as writer:
        for path in conversations(run, manifest):
            writer.conversation(names.get(path.stem, path.stem) if manifest.suite.isolated else None)
            sent: Sent | None = None
            answers = answers_in(path)
            for event in read_events(path):
                if isinstance(event, Sent):
                    sent = event
                elif isinstance(event, Replied) and sent is not None:
                    writer.turn(sent, event, questions.get((sent.example or "", sent.turn)))
                    sent = None
                elif isinstance(event, Forked):
                    answered = answers.get(event.id)
                    reply = None if answered is None else answered.replied
                    writer.forked(event.sent, reply, questions.get((event.example, event.id)))
                elif isinstance(event, Jumped):
                    writer.jumped(event)
            if sent is not None:
                writer.turn(sent, None, questions.get((sent.example or "", sent.turn)))
        writer.finish(results)
