"""Folders of users: none is lost, and none is another's."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.adapters import user_folder, users_in

NAMES = st.sets(st.text("aZ9_-./ \\é☃", max_size=6), max_size=4)


@given(names=NAMES)
def test_users_are_found_by_their_folders_under_the_names_that_they_have(names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        (home / "user-file").write_text("")
        for name in names:
            user_folder(home, name, "shelf").mkdir()
        assert user_folder(home, None) == home
        assert users_in(home, "shelf") == sorted(names)
        assert users_in(home) == []
