"""How Sphinx builds the site from this folder: `sphinx-build -W docs docs/_build`."""

import gc
import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

# A build keeps nearly all that it makes; looking for what it does not is a third of its time.
gc.disable()

project = "ltm-bench"
author = "ltm-bench contributors"
project_copyright = "ltm-bench contributors"
version = release = installed("ltm-bench")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs.generated"]
exclude_patterns = ["_build", "examples"]
html_theme = "furo"  # light and dark, a search that needs no server, and no request to anywhere
html_title = "ltm-bench"
html_show_sphinx = False
html_copy_source = False
smartquotes_action = "qe"  # quotes and ellipses, but no dashes: `--option` is typed with two hyphens

suppress_warnings = [
    "misc.highlighting_failure"
]  # an apostrophe after `#` is not an error in a console block

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

default_role = "code"  # docstrings write `name` for code, as the rest of the project does
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
