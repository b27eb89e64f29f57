"""Downloads TriviaQA (Joshi et al. 2017, Apache-2.0), whose questions can serve as filler."""

import shutil
import tarfile
from pathlib import Path

from ltm_bench.core.download import Fetched, OnProgress, download
from ltm_bench.core.errors import ConfigError

URL = "https://nlp.cs.washington.edu/triviaqa/data/triviaqa-unfiltered.tar.gz"
SHA256 = "7f0c94207fd0a1eb7bba3d52cdfe0735c98de850b9e5aa4e75f2776ef9a531d0"
"""SHA-256 of the 632,549,060 bytes at URL, as recorded by Hugging Face's datasets for the same file."""

_WANTED = "unfiltered-web-dev.json"
"""11,313 questions; the training file has 87,622, but is ten times as large."""


def fetch_trivia(into: Path, *, url: str, sha256: str, on_progress: OnProgress) -> Fetched:
    """Download the questions into a folder, unless they are there.

    Raises:
        ConfigError: The archive cannot be downloaded, has a different checksum, or lacks the questions. Nothing is
        kept.
    """
    into.mkdir(parents=True, exist_ok=True)
    target = into / _WANTED
    if target.exists():
        return Fetched(target, new=False)
    archive = into / "archive.part"
    try:
        found = download(url, archive, name="TriviaQA", on_progress=on_progress)
        if found != sha256:
            raise ConfigError(f"{url}: its SHA-256 is {found}, expected {sha256}; nothing was kept")
        _unpack(archive, target)
    finally:
        archive.unlink(missing_ok=True)
    return Fetched(target, new=True)


def _unpack(archive: Path, target: Path) -> None:
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                source = tar.extractfile(member) if Path(member.name).name == _WANTED else None
                if source is not None:
                    draft = target.with_suffix(".part")
                    with source, draft.open("wb") as file:
                        shutil.copyfileobj(source, file)
                    draft.rename(target)
                    return
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ConfigError(f"{archive}: the archive cannot be read ({error})") from error
    raise ConfigError(f"{archive}: there is no {_WANTED} in the archive")
