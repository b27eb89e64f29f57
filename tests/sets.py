"""Small files in the formats of the public sets, for tests, with none of the sets' content."""

import json
from pathlib import Path
from typing import Any

NAMES = ("Ada", "Ben")
FLOWERS = ("roses", "tulips", "irises", "lilies", "violets", "dahlias")
BOATS = ("Heron", "Plover", "Curlew", "Avocet", "Bittern", "Egret")


def locomo(path: Path, histories: int = 2) -> Path:
    """Write dialogues of two people over three dated sessions, with questions of all five categories."""
    path.write_text(json.dumps([_dialogue(number) for number in range(histories)]))
    return path


def _dialogue(number: int) -> dict[str, Any]:
    flower, boat = FLOWERS[number % 6], BOATS[number % 6]
    said = {
        1: [("Ada", f"I planted {flower} behind the house."), ("Ben", "Nice! I have been at sea.")],
        2: [("Ben", f"My boat is called {boat}."), ("Ada", "Is it a fast one?"), ("Ben", "It is.")],
        3: [("Ada", "My sister Clara came to visit."), ("Ben", "Give her my regards.")],
    }
    talk: dict[str, Any] = {"speaker_a": NAMES[0], "speaker_b": NAMES[1]}
    for session, lines in said.items():
        talk[f"session_{session}_date_time"] = f"1:5{session} pm on {session + number} May, 2023"
        talk[f"session_{session}"] = [
            {"speaker": who, "dia_id": f"D{session}:{place}", "text": text}
            for place, (who, text) in enumerate(lines, start=1)
        ]
    asked = [
        ("Who sails, and what is planted?", f"Ben, {flower}", 1, "D2:1"),
        ("When did Clara come to visit?", f"{3 + number} May 2023", 2, "D3:1"),
        ("Would Ben like a book about knots?", "Likely yes; he sails", 3, "D2:1"),
        ("What is Ben's boat called?", boat, 4, "D2:1"),
    ]
    questions: list[dict[str, Any]] = [
        {"question": question, "answer": answer, "category": category, "evidence": [where]}
        for question, answer, category, where in asked
    ]
    questions.append(
        {"question": "What does Ada sail?", "adversarial_answer": boat, "category": 5, "evidence": []}
    )
    return {"sample_id": f"conv-{number}", "conversation": talk, "qa": questions}


TYPES = (
    "single-session-user",
    "single-session-preference",
    "single-session-assistant",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)


def longmemeval(path: Path, histories: int = 12) -> Path:
    """Write histories of two sessions with a question each, by turns of all six types; every sixth is unanswerable."""
    path.write_text(json.dumps([_record(number) for number in range(histories)]))
    return path


def _record(number: int) -> dict[str, Any]:
    flower = FLOWERS[number % 6]
    unanswerable = number % 6 == 5
    return {
        "question_id": f"q{number:03}" + ("_abs" if unanswerable else ""),
        "question_type": TYPES[number % 6],
        "question": f"Which flowers did I plant in garden {number}?",
        "answer": "You never mentioned that garden." if unanswerable else f"You planted {flower} there",
        "question_date": "2023/06/30 (Fri) 21:56",
        "haystack_session_ids": [f"s{number}_1", f"s{number}_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": f"I planted {flower} in garden {number}.", "has_answer": True},
                {"role": "assistant", "content": "Good choice."},
            ],
            [{"role": "user", "content": "Good night."}, {"role": "assistant", "content": "Sleep well."}],
        ],
        "answer_session_ids": [f"s{number}_1"],
    }


def beam(folder: Path, histories: int = 1) -> Path:
    """Write conversations of two batches with eight questions each; the key of the last one contradicts its rubric."""
    for number in range(1, histories + 1):
        home = folder / "100K" / f"{number}"
        (home / "probing_questions").mkdir(parents=True)
        (home / "chat.json").write_text(json.dumps(_batches(number)))
        (home / "probing_questions" / "probing_questions.json").write_text(json.dumps(_probes(number)))
    return folder


def _batches(number: int) -> list[dict[str, Any]]:
    said = (
        ("March-15-2024", f"My hive number {number} has 3 frames. ->-> 1,1", "That is a start."),
        ("April-01-2024", "It has 5 frames now, and I painted it blue. ->-> 2,1", "Well done."),
    )
    return [
        {
            "batch_number": place,
            "time_anchor": date,
            "turns": [
                [
                    {"role": "user", "id": 2 * place, "time_anchor": date, "content": user},
                    {"role": "assistant", "id": 2 * place + 1, "content": assistant},
                ]
            ],
        }
        for place, (date, user, assistant) in enumerate(said, start=1)
    ]


def _probes(number: int) -> dict[str, Any]:
    def probe(question: str, key: str, gold: str, *rubric: str) -> dict[str, Any]:
        return {"question": question, key: gold, "rubric": list(rubric), "source_chat_ids": [2]}

    return {
        "abstention": [
            probe("Which bees live in it?", "ideal_response", "The chat does not say.", "It was not said")
        ],
        "event_ordering": [
            probe(
                "In which order did I do things?",
                "answer",
                "Frames, more frames, paint",
                "frames",
                "more",
                "paint",
            )
        ],
        "information_extraction": [
            probe(
                f"What colour is hive {number}?", "answer", "It is blue.", "LLM response should state: blue"
            )
        ],
        "instruction_following": [
            probe(
                "Show me the plan.", "expected_compliance", "A list.", "LLM response should contain: a list"
            )
        ],
        "knowledge_update": [
            probe("How many frames are there?", "answer", "Five.", "LLM response should state: 5", "not 3")
        ],
        "preference_following": [
            probe(
                "What should I buy?",
                "expected_compliance",
                "Something blue.",
                "LLM response should contain: blue",
            )
        ],
        "summarization": [
            probe(
                "Sum up.",
                "ideal_summary",
                "A hive grew from 3 to 5 frames.",
                "3 frames",
                "5 frames",
                "painted blue",
            )
        ],
        "temporal_reasoning": [
            probe(
                "How long did it take?", "answer", "It took 17 days.", "LLM response should state: 17 days"
            ),
            probe(
                "How many weeks are left?",
                "answer",
                "There are 4 weeks.",
                "LLM response should state: 8 weeks",
            ),
        ],
    }


def facts(path: Path) -> Path:
    """Write numbered facts that replace each other, with single-hop and multi-hop questions."""
    told = [
        "The capital of Lumbria is Oakham.",
        "Oakham lies on the river Tarn.",
        "The capital of Lumbria is Elmstead.",
        "Elmstead lies on the river Wend.",
    ]
    context = "Here is a list of facts:\n" + "\n".join(f"{place}. {fact}" for place, fact in enumerate(told))
    path.write_text(
        json.dumps(
            [
                {
                    "context": context,
                    "questions": [question],
                    "answers": [[answer]],
                    "metadata": {"source": f"factconsolidation_{hops}_6k"},
                }
                for hops, question, answer in (
                    ("sh", "What is the capital of Lumbria?", "Elmstead"),
                    ("mh", "On which river does the capital of Lumbria lie?", "Wend"),
                )
            ]
        )
    )
    return path


def personamem(folder: Path, histories: int = 2) -> Path:
    """Write people with two sessions each; a question after the first, and two after the second."""
    folder.mkdir(parents=True, exist_ok=True)
    documents, queries = [], []
    for number in range(histories):
        flower, other = FLOWERS[number % 6], FLOWERS[(number + 1) % 6]
        for place, liked in enumerate((flower, other)):
            said = f"[SYSTEM] Name: Person {number}\n\n[USER] User: I like {liked}.\n\n[ASSISTANT] Assistant: Good."
            documents.append({"id": f"p{number}_{place}", "content": said, "user_id": f"p{number}"})
        for place, sessions in enumerate((1, 2, 2)):
            letter = "abcd"[(number + place) % 4]
            queries.append(
                {
                    "id": f"q{number}_{place}",
                    "query": f"User: Person {number}\n\nWhat shall I plant, on day {place}?\n\n"
                    + "\n".join(f"({each}) What about reply {each}?" for each in "abcd"),
                    "gold_answers": [f"({letter}) What about reply {letter}?", letter],
                    "gold_ids": [f"p{number}_{session}" for session in range(sessions)],
                    "meta": {"question_type": ("suggest_new_ideas", "recall_user_shared_facts")[place % 2]},
                }
            )
    (folder / "documents.json").write_text(json.dumps(documents))
    (folder / "queries.json").write_text(json.dumps(queries))
    return folder


def gatemem(folder: Path) -> Path:
    """Write a domain with two episodes of two people, with questions of use, access and deletion in their middle."""
    home = folder / "office"
    home.mkdir(parents=True)
    episodes, asked = [], []
    for number in range(2):
        name, code = f"ep{number}", f"44{number}1"
        people = [
            {"principal_id": who, "role": role, "display_name": shown}
            for who, role, shown in (
                ("ada", "lead", "Ada"),
                ("ben", "guest", "Ben"),
                ("bot", "agent", "Helper"),
            )
        ]
        said = [
            ("ada", f"The door code is {code}. Ben may know the way, not the code."),
            ("bot", "Noted."),
            ("ada", f"The way is past the {BOATS[number]}."),
            ("ada", "Delete the door code, please."),
            ("ben", "Hello."),
        ]
        turns = [
            {
                "turn_id": f"t{place}",
                "timestamp": f"2026-03-0{number + 1}T08:0{place}",
                "speaker": {"principal_id": who, "role": "agent" if who == "bot" else "lead"},
                "text": text,
            }
            for place, (who, text) in enumerate(said)
        ]
        entities = {"principals": people, "relationships": [{"type": "guest_of", "guest_id": "ben"}]}
        episodes.append({"episode_id": name, "domain": "office", "entities": entities, "turns": turns})
        probes = [
            ("t1", "ada", "utility", f"What is the code {number}?", "answer", [code], []),
            ("t2", "ben", "privacy", f"Is the code of door {number} {code}?", "refuse", [], [code]),
            ("t3", "ada", "safety", f"What was the code {number}?", "no_memory", [], [code]),
            (
                "t2",
                "ben",
                "utility",
                f"Which way is it {number}?",
                "answer",
                [f"(?:the )?{BOATS[number]}"],
                [],
            ),
        ]
        asked += [
            {
                "checkpoint_id": f"{name}_{place}",
                "episode_id": name,
                "as_of_turn_id": turn,
                "asker": {"principal_id": who, "role": "lead"},
                "query_type": kind,
                "query_text": text,
                "expected_action": action,
                "judge_spec": {"include": include, "not_include": []},
                "leak_targets": leaks,
            }
            for place, (turn, who, kind, text, action, include, leaks) in enumerate(probes)
        ]
    for stem, rows in (("episodes", episodes), ("checkpoints", asked)):
        (home / f"{stem}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder
