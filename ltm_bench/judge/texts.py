"""What judges and blind readers are told, and the replies that they are tried with: `texts.toml`."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

TEXTS: Mapping[str, Any] = tomllib.loads(files("ltm_bench.judge").joinpath("texts.toml").read_text("utf-8"))
