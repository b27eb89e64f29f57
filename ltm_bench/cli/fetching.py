"""`filler fetch` and `infinitebench fetch`: public data, with progress and a checksum, where there is a network."""

import hashlib
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from ltm_bench.cli.console import err, out
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.datasets.infinitebench.scorer import SCORERS

URL = "https://nlp.cs.washington.edu/triviaqa/data/triviaqa-unfiltered.tar.gz"
SHA256 = "7f0c94207fd0a1eb7bba3d52cdfe0735c98de850b9e5aa4e75f2776ef9a531d0"
"""Of the 632,549,060 bytes behind URL, as recorded by Hugging Face's datasets for the same file."""
WANTED = "unfiltered-web-dev.json"
"""11,313 questions; the training file has 87,622, but is ten times as large."""


def fetch_into(into: Path, url: str, sha256: str) -> None:
    """Put the questions into a folder, unless they are there already."""
    into.mkdir(parents=True, exist_ok=True)
    target = into / WANTED
    if target.exists():
        out().print(f"{target} is there already", markup=False)
    else:
        archive = into / "archive.part"
        try:
            found = _download(url, archive, "TriviaQA")
            if found != sha256:
                raise ConfigError(f"{url}: its SHA-256 is {found}, expected {sha256}; nothing was kept")
            _unpack(archive, target)
        finally:
            archive.unlink(missing_ok=True)
    out().print(f"use it with: ltm-bench run --filler triviaqa:{target}", markup=False)


INFINITEBENCH = "https://huggingface.co/datasets/xinrongzhang2022/InfiniteBench/resolve/main"
SUMS = "SHA256SUMS"
"""Beside the files: what each was when it was fetched first. Their authors have replaced files without a word."""


def fetch_infinitebench(tasks: Sequence[str], into: Path, url: str) -> None:
    """Put the public files of these tasks, or of all, into a folder. Raises ConfigError.

    There are no published checksums: those of the first download are kept, and a file that differs later is refused.
    """
    wanted = list(tasks) or list(SCORERS)
    for task in wanted:
        if task not in SCORERS:
            raise ConfigError(
                f"{task}: there is no such task{nearest(task, SCORERS)} (known: {', '.join(SCORERS)})"
            )
    into.mkdir(parents=True, exist_ok=True)
    sums = into / SUMS
    lines = sums.read_text("utf-8").splitlines() if sums.exists() else []
    known = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for task in wanted:
        name = f"{task}.jsonl"
        if (into / name).exists():
            out().print(f"{into / name} is there already", markup=False)
            continue
        part = into / f"{name}.part"
        try:
            found = _download(f"{url.rstrip('/')}/{name}", part, task)
            if known.setdefault(name, found) != found:
                raise ConfigError(
                    f"{url}/{name}: its SHA-256 is {found}, but {sums} says {known[name]}: the file has been replaced; "
                    f"take that line out of {sums} to accept the new one"
                )
            part.rename(into / name)
        finally:
            part.unlink(missing_ok=True)
        sums.write_text("".join(f"{digest}  {each}\n" for each, digest in sorted(known.items())), "utf-8")
    out().print("use them with: ltm-bench run --suite infinitebench-files", markup=False)


def _download(url: str, path: Path, what: str) -> str:
    """Download to a file with a progress bar; return the SHA-256."""
    import httpx2
    from rich.progress import Progress

    digest = hashlib.sha256()
    try:
        with (
            httpx2.stream("GET", url, follow_redirects=True, timeout=30.0) as response,
            path.open("wb") as file,
            Progress(console=err(), disable=not err().is_terminal) as progress,
        ):
            response.raise_for_status()
            size = response.headers.get("content-length")
            task = progress.add_task(what, total=int(size) if size else None)
            for block in response.iter_bytes(1 << 20):
                digest.update(block)
                file.write(block)
                progress.update(task, advance=len(block))
    except httpx2.HTTPError as error:
        raise ConfigError(
            f"{url} could not be downloaded ({type(error).__name__}: {error}); "
            "check the network, or give a mirror with --url"
        ) from error
    return digest.hexdigest()


def _unpack(archive: Path, target: Path) -> None:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if Path(member.name).name == WANTED and member.isfile():
                    source = tar.extractfile(member)
                    if source is not None:
                        draft = target.with_suffix(".part")
                        with source, draft.open("wb") as file:
                            shutil.copyfileobj(source, file)
                        draft.rename(target)
                        return
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ConfigError(f"{archive}: the archive cannot be read ({error})") from error
    raise ConfigError(f"{archive}: there is no {WANTED} in the archive")
