"""A run as one file to share: manifest, log, verdicts and results in a zip, with all hashes.

Pages are left out: whoever has the bundle renders them from its log, and believes no others.

The hashes show that a bundle is complete and undamaged, not who made it: anyone who changes a reply can change its hash
too. `ltm_bench.export.verify` checks the contents.
"""

import errno
import hashlib
import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import LtmBenchError, NotVerified
from ltm_bench.core.limits import check_zip, content_of, json_of
from ltm_bench.log.controls import asked_again
from ltm_bench.log.reader import read_manifest
from ltm_bench.score.results.stored import SUMS

_SUFFIXES = (".jsonl", ".json", ".toml")


def files(run: Path) -> list[Path]:
    """Return a run's shareable files: neither pages, nor the agent's own state, nor unfinished files."""
    folders = (run, *asked_again(run))
    found = [path for each in folders for path in (*each.iterdir(), *each.glob("isolated/*.jsonl"))]
    return sorted(p for p in found if p.is_file() and p.suffix in _SUFFIXES and not p.name.startswith("."))


def pack(run: Path, target: Path) -> None:
    """Write a run's files into a zip, with `manifest.json` and all hashes. Equal runs give equal bytes.

    Args:
        run: The run folder.
        target: The zip to write.
    """
    manifest = json.dumps(read_manifest(run).model_dump(mode="json"), indent=1).encode() + b"\n"
    contents = {path.relative_to(run).as_posix(): path.read_bytes() for path in files(run)}
    contents["manifest.json"] = manifest
    sums = [f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents)]
    contents[SUMS] = "".join(sums).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(contents):
            archive.writestr(
                zipfile.ZipInfo(f"{run.name}/{name}"), contents[name], zipfile.ZIP_DEFLATED, compresslevel=9
            )


def unpack(bundle: Path, into: Path) -> Path:
    """Unpack a bundle, check its hashes, and return the run's folder.

    Args:
        bundle: The zip.
        into: An empty folder.

    Raises:
        NotVerified: It is not a bundle, it is unsafe to unpack, or a file is missing, added or changed.
    """
    try:
        with zipfile.ZipFile(bundle) as archive:
            entries = archive.infolist()
            paths = [PurePosixPath(entry.filename) for entry in entries]
            if any(path.is_absolute() or ".." in path.parts or "\\" in str(path) for path in paths):
                raise NotVerified(f"{bundle}: it has a file outside its folder; this is not a bundle")
            if not all(entry.filename.isprintable() for entry in entries):
                raise NotVerified(f"{bundle}: it has a file whose name cannot be shown; this is not a bundle")
            check_zip(archive, bundle.stat().st_size)
            if len({path.parts[0] for path in paths}) != 1:
                raise NotVerified(
                    f"{bundle}: it has no run, or several; bundle the run again with `ltm-bench bundle`"
                )
            archive.extractall(into)
    except NotVerified:
        raise
    except Exception as error:  # any part of zipfile and zlib can fail on a damaged zip, each in its own way
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # a full disk, and no offset before the file
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NotVerified(f"{bundle}: {said}; it is damaged, or not a bundle") from error
    run = into / paths[0].parts[0]
    _check_sums(bundle, run)
    return run


def _check_sums(bundle: Path, run: Path) -> None:
    if not (run / SUMS).is_file():
        raise NotVerified(f"{bundle}: it has no {SUMS}; bundle the run again with `ltm-bench bundle`")
    lines = content_of(run / SUMS).decode("utf-8", "replace").splitlines()
    stated = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = {p.relative_to(run).as_posix(): p for p in run.rglob("*") if p.is_file() and p.name != SUMS}
    if stated.keys() != found.keys():
        raise NotVerified(f"{bundle}: {min(stated.keys() ^ found.keys())} is missing, or not in {SUMS}")
    for name, path in found.items():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != stated[name]:
            raise NotVerified(f"{bundle}: {name} was changed: its SHA-256 is {digest}, not {stated[name]}")


FILE = "siblings.json"
"""Its name in a bundle."""


class Siblings(BaseModel, frozen=True, allow_inf_nan=False, extra="forbid"):
    """What stands beside a run, as its owner's folder says: runs elsewhere, or deleted ones, are unknown."""

    count: int = Field(ge=0)
    """Other runs with another seed, or another attempt at the same one."""
    scored: int = Field(ge=0)
    """Those among them that have a score."""
    best: float | None
    mean: float | None

    @property
    def said(self) -> str:
        """All that in words."""
        known = "" if self.best is None else f" (best {self.best:.2f}, mean {self.mean:.2f} of {self.scored})"
        return f"{self.count or 'no'} other {'run' if self.count == 1 else 'runs'} beside it{known}"


def siblings_of(run: Path) -> Siblings:
    """Return the other runs beside a run's folder that differ from it in nothing but seed and replies."""
    own, scores, count = _identity(run), list[float](), 0
    for folder in sorted(run.resolve().parent.iterdir()):
        if folder.name != run.resolve().name and own is not None and _identity(folder) == own:
            count += 1
            try:
                score = json_of(content_of(folder / "results.json")).get("score")
            except (OSError, ValueError, AttributeError):
                continue
            scores += [float(score)] if isinstance(score, int | float) else []
    mean = sum(scores) / len(scores) if scores else None
    return Siblings(count=count, scored=len(scores), best=max(scores, default=None), mean=mean)


def read_siblings(run: Path) -> Siblings | None:
    """Return what a bundle says of them; None if it says nothing. Raises NotVerified if that has no sense."""
    if not (run / FILE).is_file():
        return None
    try:
        return Siblings.model_validate_json(content_of(run / FILE))
    except (OSError, ValueError, ValidationError) as error:
        raise NotVerified(f"{run.name}: {FILE} does not say how many runs stand beside it") from error


def _identity(run: Path) -> dict[str, Any] | None:
    try:
        return {key: value for key, value in read_manifest(run).identity().items() if key != "seed"}
    except (LtmBenchError, OSError):
        return None
