"""Documents, tasks, arrangements and votes: the order of documents, and which answer wins."""

import codecs
import json
import re
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.adapters.hashing import embed
from ltm_bench.core.dice import Dice
from ltm_bench.datasets.swim import Document, arrange, keep, read_documents, read_tasks, unvalidated
from ltm_bench.datasets.swim.arranging import size_of
from ltm_bench.datasets.swim.documents import read_document
from ltm_bench.datasets.swim.figures import medoid, vote
from ltm_bench.datasets.swim.matcher import says_absent
from ltm_bench.datasets.swim.tasks import Ruling, Task, write_tasks
from tests.pace import cpu, in_proportion

DOCS = [Document(f"d{i}", " ".join([f"Fact number {i} is here."] * (1 + i % 7))) for i in range(40)]


@settings(max_examples=60, deadline=None)
@given(depth=st.floats(0, 1), seed=st.integers(0, 99), answer=st.integers(0, 39))
def test_an_answer_is_at_its_depth_in_tokens_and_nothing_is_lost(
    depth: float, seed: int, answer: int
) -> None:
    arranged = arrange(DOCS, [f"d{answer}"], Dice(f"{seed}"), depth=depth)
    assert sorted(arranged) == sorted(DOCS)
    place = arranged.index(DOCS[answer])
    before = sum(size_of(each.text) for each in arranged[:place])
    total = sum(size_of(each.text) for each in arranged if each != DOCS[answer])
    assert abs(before - depth * total) <= max(size_of(each.text) for each in DOCS) / 2 + 1


def test_the_documents_of_an_answer_are_spread_and_the_removed_one_is_absent() -> None:
    arranged = arrange(DOCS, ["d1", "d2", "d3"], Dice("1"), depth=0.0)
    places = sorted(arranged.index(DOCS[i]) / len(DOCS) for i in (1, 2, 3))
    assert places == pytest.approx([0, 1 / 3, 2 / 3], abs=0.12)
    assert DOCS[1] not in arrange(DOCS, ["d1"], Dice("1"), depth=None, absent=True)
    assert arrange(DOCS, ["d1"], Dice("1"), depth=0.5, tokens=0) == [DOCS[1]]
    some = arrange(DOCS, ["d1"], Dice("1"), depth=0.5, tokens=100)
    assert 60 < sum(size_of(each.text) for each in some if each != DOCS[1]) <= 100


def test_orders_depend_on_the_dice_alone() -> None:
    one, again, other = (arrange(DOCS, ["d1"], Dice(name), depth=None) for name in "aab")
    assert one == again != other


def task(doc: str, **more: object) -> Task:
    return Task.model_validate({"question": "Q?", "answer": "A", "answer_doc": doc, **more})


def test_documents_with_answers_are_kept_first_and_tasks_without_theirs_are_named() -> None:
    tasks = {"a": task("d39"), "b": task("d38"), "c": task("none"), "d": task("d0")}
    tasks["d"] = tasks["d"].model_copy(update={"validated": Ruling(by="Ada", verdict="rejected")})
    kept = keep(DOCS, tasks, size_of(DOCS[39].text) + 1)
    assert [each.name for each in kept.documents] == ["d39"]
    assert list(kept.tasks) == ["a"]
    assert kept.dropped == {
        "b": "its document 'd38' does not fit",
        "c": "its document 'none' is not among the documents",
        "d": "it was rejected",
    }
    assert len(keep(DOCS, tasks, 10**6).documents) == 40


def test_published_task_files_are_read_and_ours_are_written_back(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(
        json.dumps({"0": {"question": "Who?", "answer": "Bo", "answer_doc": " a\nb.txt", "x": 1}})
    )
    tasks = read_tasks(path)
    assert tasks["0"].answer_docs == (" a\nb.txt",)
    assert unvalidated(tasks) == 1
    tasks["0"] = tasks["0"].model_copy(update={"validated": Ruling(by="Ada", verdict="accepted")})
    write_tasks(path, tasks)
    assert read_tasks(path) == tasks
    assert unvalidated(read_tasks(path)) == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object of tasks"),
        ('{"0": {"question": "Q"}}', "0.answer: field required"),
        ('{"0": 3}', "0: input should be"),
    ],
)
def test_an_invalid_task_file_is_named(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=complaint):
        read_tasks(path)


def pdf(text: str) -> bytes:
    """Make the smallest PDF that says something."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, 2)
    for i, each in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (i, each))
    start = out.tell()
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out.write(
        b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (table, start)
    )
    return out.getvalue()


def test_documents_in_every_format_are_read(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    pytest.importorskip("markdownify")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("plain")
    (tmp_path / "b.md").write_text("# Heading\r\ntext")
    (tmp_path / "c.txt").write_text('"line one\\nline two"')  # like SWiM's own data
    (tmp_path / "d.html").write_text("<html><script>evil()</script><p>Some <b>bold</b> words</p></html>")
    (tmp_path / "sub/e.pdf").write_bytes(pdf("Words on a page"))
    (tmp_path / "f.png").write_bytes(b"\x89PNG")
    found = {each.name: each.text for each in read_documents(str(tmp_path))}
    assert list(found) == ["a.txt", "b.md", "c.txt", "d.html", "e.pdf"]
    assert found["b.md"] == "# Heading\ntext"
    assert found["c.txt"] == "line one\nline two"
    assert found["d.html"] == "Some **bold** words"
    assert found["e.pdf"] == "Words on a page"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"%PDF nonsense"),
        ("b.txt", b"  \n "),
        ("c.pdf", b""),
        ("d.pdf", pdf("x").replace(b"/Root", b"/ID [(a) (b)] /Encrypt << /Filter /Odd /V 99 >> /Root")),
    ],
)
def test_a_document_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name):
        read_documents(str(tmp_path))


def test_a_pdf_of_more_text_than_memory_holds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr("ltm_bench.datasets.swim.documents.MOST_TEXT", 30)
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("Words on a page"))
    assert read_document(path).text == "Words on a page"
    path.write_bytes(path.read_bytes().replace(b"/Kids [3 0 R]", b"/Kids [3 0 R 3 0 R 3 0 R]"))
    with pytest.raises(ValueError, match=r"a\.pdf: the PDF cannot be read: .*more than 30 characters"):
        read_document(path)


def test_folders_without_documents_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="it has no document"):
        read_documents(str(tmp_path))
    with pytest.raises(ValueError, match="there is no such folder"):
        read_documents(str(tmp_path / "none"))


def test_the_medoid_is_the_answer_most_like_the_others() -> None:
    said = ["the red barn", "a blue boat at sea", "the old red barn", "nothing of the sort", "red barn"]
    assert vote(said, embed) in (0, 2, 4)
    assert medoid([[1, 0], [1, 0], [0, 1]]) == 0  # the first of equals
    assert medoid([[0, 0], [0, 0]]) == 0  # empty answers are alike
    assert medoid([[0, 0], [1, 1], [1, 1]]) == 1


def test_absences_do_not_vote_unless_nothing_else_is_left() -> None:
    said = ["I do not know.", "I do not know.", "The documents do not say.", "In Graz."]
    assert vote(said, embed) in (0, 1)
    assert vote(said, embed, says_absent) == 3
    assert vote(said[:3], embed, says_absent) in (0, 1, 2)


def test_links_that_lead_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "more.txt").write_text("secret", "utf-8")
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "own.txt").write_text("ours", "utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "loop.txt").symlink_to("loop.txt")
    (folder / "again.txt").symlink_to("own.txt")
    assert [each.text for each in read_documents(str(folder))] == ["ours", "ours"]


BAITS = ("<!--", "<!", "<?", "<![CDATA[", "<a ", '<a x="', "</", "<p", "<b>", "<!-- a --!> ", "&#")


@pytest.mark.parametrize("bait", BAITS)
def test_html_takes_time_in_proportion_to_its_length(bait: str, tmp_path: Path) -> None:
    pytest.importorskip("markdownify")

    def read(path: Path) -> None:
        with suppress(ValueError):  # nested too deeply, for example
            read_document(path)

    def took(size: int) -> float:
        path = tmp_path / f"{size}.html"
        path.write_text("begin " + bait * (size // len(bait)) + " end", "utf-8")
        return cpu(lambda: read(path))

    assert in_proportion(took, 10_000)


def test_html_keeps_its_text_and_its_tags(tmp_path: Path) -> None:
    pytest.importorskip("markdownify")
    html = "<h1>One</h1><!-- not <b>this</b> --><p class='x'>1 < 2 <b>two</b></p>"
    (tmp_path / "a.html").write_text(html, "utf-8")
    assert read_document(tmp_path / "a.html").text.split("\n")[0] == "# One"
    assert "1 < 2 **two**" in read_document(tmp_path / "a.html").text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "naïve café – 漢字".encode("utf-8-sig")),
        ("a.txt", "naïve café – 漢字".encode("utf-16")),
        ("a.md", codecs.BOM_UTF16_BE + "naïve café – 漢字".encode("utf-16-be")),
        ("a.txt", "naïve café – 漢字".encode("utf-32")),
        ("a.html", "<p>naïve café – 漢字</p>".encode("utf-16")),
        ("a.html", "<meta charset=gb18030><p>naïve café – 漢字</p>".encode("gb18030")),
        ("a.htm", '<?xml version="1.0" encoding="Big5"?><p>漢字</p>'.encode("big5")),
        (
            "a.html",
            b"<meta http-equiv=content-type content='text/html; charset=windows-1252'><p>na\xefve</p>",
        ),
        ("a.html", b'<META CHARSET="Shift_JIS"><p>' + "漢字".encode("shift_jis") + b"</p>"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*HTML parser")
def test_a_document_is_read_in_the_character_set_that_it_names(
    tmp_path: Path, name: str, content: bytes
) -> None:
    pytest.importorskip("markdownify")
    (tmp_path / name).write_bytes(content)
    text = read_document(tmp_path / name).text
    assert text.splitlines()[-1] in ("naïve café – 漢字", "漢字", "naïve")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"one\nna\xefve", "byte 0xef at line 2 is not UTF-8; save the file as UTF-8"),
        ("a.html", b"<meta charset=klingon><p>x</p>", "it declares the unknown character set 'klingon'"),
        ("a.html", b"<meta charset=unicode_escape><p>x</p>", "it declares the unknown character set"),
        ("a.html", b"<meta charset=ascii><p>\xe9</p>", "byte 0xe9 at line 1 is not ASCII"),
        ("a.txt", codecs.BOM_UTF16_LE + b"x", "at line 1 is not UTF-16"),
        ("a.html", b"<b>x</b>" * 400, "it has 800 tags, more than 500, the most that are read"),
        ("a.html", b"x" * 5001, "it has more than 5,000 bytes, the most that is read: 5,001"),
        ("a.txt", b"x" * 9001, "it has more than 9,000 bytes, the most that is read: 9,001"),
    ],
)
def test_a_document_that_is_not_what_it_says_or_too_large_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, said: str
) -> None:
    pytest.importorskip("markdownify")
    for limit, most in {"MOST_TAGS": 500, "MOST_TEXT": 5000, "BODY": 9000}.items():
        monkeypatch.setattr(f"ltm_bench.datasets.swim.documents.{limit}", most)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.\w+: .*{re.escape(said)}"):
        read_document(tmp_path / name)


def test_a_pdf_whose_pages_unpack_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr("ltm_bench.datasets.swim.documents.MOST_DRAWN", 500)
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("x").replace(b"/Kids [3 0 R]", b"/Kids [" + b"3 0 R " * 20 + b"]"))
    with pytest.raises(
        ValueError, match=r"a\.pdf: .*its pages unpack to more than 500 bytes, the most that is read"
    ):
        read_document(path)


def test_documents_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.txt").write_text(folder, "utf-8")
    (tmp_path / "two" / "own.txt").write_text("own", "utf-8")
    found = {each.name: each.text for each in read_documents(str(tmp_path))}
    assert found == {"one/notes.txt": "one", "two/notes.txt": "two", "own.txt": "own"}


def test_documents_that_cannot_be_read_are_all_named_and_the_others_are_read(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    (tmp_path / "good.txt").write_text("good", "utf-8")
    (tmp_path / "blank.pdf").write_bytes(pdf(""))
    (tmp_path / "latin.txt").write_bytes(b"na\xefve")
    with pytest.warns(UserWarning, match="the others are asked about") as heard:
        assert [each.name for each in read_documents(str(tmp_path))] == ["good.txt"]
    said = [str(each.message) for each in heard]
    assert [each.partition(": ")[0].rpartition("/")[2] for each in said] == ["blank.pdf", "latin.txt"]
    assert all(each.endswith("; the others are asked about without it") for each in said)
    (tmp_path / "good.txt").unlink()
    read_documents.cache_clear()
    with pytest.raises(ValueError, match=r"none of its 2 documents can be read: .*blank\.pdf.*latin\.txt"):
        read_documents(str(tmp_path))
