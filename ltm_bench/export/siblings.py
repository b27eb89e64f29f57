"""The other runs of the same agent, settings and suite that stand beside a run: a score may be the best of many."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import LtmBenchError, NotVerified
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.log.reader import read_manifest

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
