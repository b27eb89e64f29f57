"""JUnit XML, with a test case for every question, for continuous integration."""

from typing import NamedTuple
from xml.etree import ElementTree

from ltm_bench.core.messages import Outcome
from ltm_bench.export.source import Source
from ltm_bench.report.text import visible
from ltm_bench.score.results.examples import ExampleResult, Question

FILE = "junit.xml"


class _Problem(NamedTuple):
    element: str
    counter: str
    """The attribute of the suite that counts such cases."""


_SKIPPED, _ERROR, _FAILURE = (
    _Problem("skipped", "skipped"),
    _Problem("error", "errors"),
    _Problem("failure", "failures"),
)


def write(source: Source) -> bytes:
    """Return a test suite for every scenario.

    A question that does not score 1 is a failure, one whose agent or judge failed is an error, and one that was not
    reached is skipped.
    """
    results = source.results
    root = ElementTree.Element("testsuites", name=visible(results.run))
    for scenario in results.scenarios:
        suite = ElementTree.SubElement(root, "testsuite", name=visible(scenario.name))
        examples = [example for example in results.examples if example.scenario == scenario.name]
        counts = {"tests": 0, **dict.fromkeys((p.counter for p in (_FAILURE, _ERROR, _SKIPPED)), 0)}
        for example in examples:
            for number, question in enumerate(example.questions):
                case = ElementTree.SubElement(
                    suite,
                    "testcase",
                    classname=visible(f"{results.run}.{scenario.name}"),
                    name=visible(_name(example, number)),
                )
                counts["tests"] += 1
                if problem := _problem(question):
                    counts[problem.counter] += 1
                    _report(ElementTree.SubElement(case, problem.element), question)
        for key, count in counts.items():
            suite.set(key, str(count))
    ElementTree.indent(root, " ")
    document: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _name(example: ExampleResult, number: int) -> str:
    return example.id if len(example.questions) == 1 else f"{example.id}, question {number + 1}"


def _problem(question: Question) -> _Problem | None:
    if question.outcome is Outcome.NOT_REACHED:
        return _SKIPPED
    if question.outcome.infrastructure:
        return _ERROR
    return None if question.score == 1 else _FAILURE


def _report(element: ElementTree.Element, question: Question) -> None:
    element.set("message", visible(f"{question.outcome}: {question.reason}"))
    element.text = visible(
        f"question: {question.text}\nexpected: {question.expected}\nreply: {question.reply}"
    )
