"""How well retrieval finds needles, computed by hand, and its record on disk."""

import json
from pathlib import Path

import pytest

from ltm_bench.score.results.evidence import traces
from ltm_bench.score.results.retrieval import NeedleTrace, Retrieval, lost, ranking


def found(*ranks: int | None) -> Retrieval:
    each = tuple(NeedleTrace(turn=i, stored=True, rank=rank) for i, rank in enumerate(ranks))
    return Retrieval(
        needles=len(ranks), stored=len(ranks), retrieved=sum(r is not None for r in ranks), traces=each
    )


def test_ranks_make_hit_recall_and_mean_reciprocal_rank() -> None:
    made = ranking([found(2, None), found(4, 1, 60), found(None)])
    assert made is not None
    assert (made.questions, made.needles) == (3, 6)
    assert made.hit == pytest.approx({1: 1 / 3, 3: 2 / 3, 5: 2 / 3, 10: 2 / 3, 50: 2 / 3})
    assert made.recall[1] == pytest.approx((0 + 1 / 3 + 0) / 3)
    assert made.recall[5] == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert made.mrr == pytest.approx((1 / 2 + 1 + 0) / 3)


def test_the_agents_own_k_is_a_cut_of_its_own() -> None:
    narrow = found(2, 7, 60)
    traces = [trace.model_copy(update={"used": trace.rank == 2}) for trace in narrow.traces]
    cut = narrow.model_copy(update={"k": 4, "retrieved": 1, "traces": tuple(traces)})
    made = ranking([cut, cut])
    assert made is not None
    assert made.k == 4
    assert list(made.recall) == [1, 3, 4, 5, 10, 50]
    assert made.recall[4] == pytest.approx(1 / 3)
    assert lost([cut]) == {"not retrieved": 1}


def test_without_ranks_there_is_no_ranking_and_right_replies_have_lost_nothing() -> None:
    assert ranking([]) is None
    assert ranking([Retrieval(needles=2, stored=1, retrieved=0)]) is None
    right = found(None).model_copy(update={"stored": None})
    assert right.lost is None
    assert lost([right, found(None), found(1)]) == {"not retrieved": 1, "retrieved, but not used": 1}


def test_records_in_either_form_are_read_and_damaged_ones_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "events.recalls"
    lines = [
        {"turn": 1, "needles": [[0, True, False], [1, False, True]]},  # as version 0.1.0 wrote it
        {"turn": 2, "needles": [[0, None, 3]], "instead": [{"rank": 1, "text": "x"}, {"rank": "no"}, 7]},
        {"turn": 3, "needles": "x", "instead": []},
        {"turn": 4, "needles": [[0, True, None]], "instead": 5},
        {"turn": 5, "needles": [[0, True, 7], [1, True, 2]], "instead": [], "k": 3, "used": [1]},
        {"turn": 6, "needles": [[0, True, 7]], "instead": [], "k": "3", "used": [0]},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    read = traces(file)
    assert (read[1].stored, read[1].retrieved, read[1].traces) == (1, 1, ())
    assert (read[2].stored, read[2].lost, read[2].traces[0].rank) == (None, None, 3)
    assert [each.text for each in read[2].instead] == ["x"]
    assert list(read) == [1, 2, 4, 5, 6]
    assert (read[5].k, read[5].retrieved, [t.lost for t in read[5].traces]) == (3, 1, [True, False])
    assert (read[6].k, read[6].retrieved) == (None, 1)
