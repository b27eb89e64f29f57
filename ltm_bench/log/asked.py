"""asked.json: how a run was asked to be carried out, for whoever continues it. No key is in it."""

from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt

from ltm_bench.core.errors import LogError, first_problem
from ltm_bench.core.limits import content_of
from ltm_bench.log.lines import write_whole

ASKED = "asked.json"


class AskedFor(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """How a run was asked to be carried out: each option of `run` that is kept, by its name in Python."""

    format: Literal[1] = 1
    """Version of this form."""
    max_cost: Decimal | None = Field(default=None, ge=0)
    """What it may cost in all, in dollars: of a series of runs, what those before it had left."""
    reader: str | None = None
    judges: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    """Those of its suite, too."""
    ladder: bool = False
    timeout: PositiveFloat | None = None
    max_retries: NonNegativeInt | None = None
    run_timeout: PositiveFloat | None = None
    cache: bool = False
    gateway: bool = False
    upstream: tuple[str, ...] = ()
    """Without those that hold a key."""
    gateway_port: int = Field(default=0, ge=0, le=65535)
    gateway_env: tuple[str, ...] = ()
    connections: PositiveInt | None = None
    forwards: dict[str, str] = {}
    """Where the gateway forwarded to, by protocol: PROVIDER=URL, named or not, without any password."""
    together: bool = False
    """Whether it was one of several runs of a sweep or a race, and the limit was for all of them."""


def write_asked(run: Path, asked: AskedFor) -> None:
    """Write what was asked into a run's folder, unless it stands there."""
    if read_asked(run) != asked:
        write_whole(run / ASKED, asked.model_dump_json(indent=1).encode() + b"\n")


def read_asked(run: Path) -> AskedFor | None:
    """Return what was asked of a run; None of one that was begun before this was kept. Raises LogError."""
    path = run / ASKED
    if not path.is_symlink() and not path.exists():  # a link to nothing stands for something that was lost
        return None
    try:
        asked = AskedFor.model_validate_json(content_of(path))
        if "format" not in asked.model_fields_set:  # whoever wrote this may have left out more
            raise ValueError("it has no format")
        return asked
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or first_problem(error)
        advice = "mend it, or move it away to continue with what the command says alone"
        raise LogError(f"{path}: {said}; {advice}") from error
