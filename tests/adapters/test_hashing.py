import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ltm_bench.adapters import hashing

TEXTS = [
    "My sister Margit teaches chemistry at a school in Graz.",
    "Q: What is the capital of France? A: Paris",
    "Größe 43, l’été, 東京, emoji 🎻 and \ud800 half of one",
    "what is it",
]
DIGEST = "cf5011b21f8da9432dbab601ea07d3e7780b6f77735e75ce95e8a9820140d4dd"


def digest() -> str:
    return hashlib.sha256(hashing.embed(TEXTS).tobytes()).hexdigest()


def test_the_same_text_has_the_same_vector_everywhere():
    # If the embedder was changed on purpose, raise hashing.NAME as well: existing stores hold the old vectors.
    assert (hashing.NAME, digest()) == ("local-1", DIGEST)


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_another_process_agrees_under_any_hash_seed(seed: str):
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_hashing; print(test_hashing.digest())"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    root = Path(__file__).parents[2]
    said = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == digest()


def test_a_vector_does_not_depend_on_its_neighbours():
    together = hashing.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.array_equal(hashing.embed([text])[0], vector)


def test_vectors_have_length_one_and_products_are_exact_in_any_order():
    vectors = hashing.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors.astype(float), axis=1) - 1).max() < 0.01
    assert np.array_equal(vectors * hashing.GRAIN, np.rint(vectors * hashing.GRAIN))
    for a in vectors:
        for b in vectors:
            exact = sum(int(x * hashing.GRAIN) * int(y * hashing.GRAIN) for x, y in zip(a, b, strict=True))
            for order in (slice(None), slice(None, None, -1)):
                total = np.float32(0)
                for product in (a * b)[order]:
                    total += product
                assert int(total * hashing.GRAIN**2) == exact


def test_dense_vectors_from_elsewhere_become_exact_too():
    rows = np.random.default_rng(7).normal(size=(2, 1536))
    a, b = hashing.whole(rows)
    exact = sum(int(x * hashing.GRAIN) * int(y * hashing.GRAIN) for x, y in zip(a, b, strict=True))
    assert float(a @ b) == exact / hashing.GRAIN**2
    cosine = rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1])
    assert abs(float(a @ b) - cosine) < 0.001


def test_texts_without_words_are_near_nothing():
    assert not hashing.embed(["", "?!"]).any()
    assert hashing.embed([]).shape == (0, hashing.DIMENSIONS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("painted", "paints"),
        ("running", "runs"),
        ("allergies", "allergy"),
        ("the dog's", "dogs"),
        ("charge", "charges"),
    ],
)
def test_forms_of_a_word_are_near_each_other(one: str, other: str):
    assert hashing.content_words(one) == hashing.content_words(other)


def test_stop_words_carry_nothing():
    assert hashing.content_words("What is it that you've got there?") == ["got"]


def test_a_rare_word_counts_for_more_than_a_common_one():
    assert hashing.weight(hashing.stem("umbrella")) > hashing.weight(hashing.stem("name"))


@pytest.fixture(scope="module")
def retrieval() -> ModuleType:
    path = Path(__file__).parents[2] / "perf" / "retrieval.py"
    spec = importlib.util.spec_from_file_location("retrieval", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_fact_is_found_among_a_thousand_lines_of_trivia(retrieval: ModuleType):
    assert len(retrieval.FACTS) == 40
    found = retrieval.ranks(1000)
    assert retrieval.recall(found, 5) >= 0.95
    assert retrieval.recall(found, 1) >= 0.9


def test_as_many_distractors_as_requested_and_all_different(retrieval: ModuleType):
    for count in (10, 1000, 20_000):
        assert len(set(retrieval.distractors(count))) == count
