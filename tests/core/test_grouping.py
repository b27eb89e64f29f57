"""Values grouped by what they have in common."""

from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.grouping import grouped


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers())))
def test_each_key_has_its_values_in_the_order_in_which_they_come(pairs: list[tuple[str, int]]) -> None:
    found = grouped(pairs)
    assert [*found] == [*dict.fromkeys(key for key, _ in pairs)]
    assert found == {key: [value for other, value in pairs if other == key] for key, _ in pairs}
