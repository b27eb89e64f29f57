"""Name list: somebody uses one name after another; in the end, all of them are wanted."""

from ltm_bench import Ask, Dice, Script, Tell, lists_all, scenario

NAMES = (
    "Abigail", "Alistair", "Anneliese", "Barnaby", "Beatrice", "Benedict", "Bronwen", "Callum", "Cordelia", "Cormac",
    "Delphine", "Desmond", "Dorothea", "Edmund", "Eleanor", "Emrys", "Felicity", "Finnegan", "Frederica", "Gideon",
    "Gwendolyn", "Harriet", "Hubert", "Ingrid", "Isadora", "Jocelyn", "Julius", "Keziah", "Lachlan", "Leonora",
    "Lysander", "Magnus", "Marguerite", "Matilda", "Mortimer", "Nathaniel", "Octavia", "Orlando", "Penelope", "Phineas",
    "Quentin", "Raphael", "Rosalind", "Rupert", "Saskia", "Seraphina", "Silas", "Tabitha", "Thaddeus", "Ulysses",
    "Ursula", "Valentina", "Vincent", "Wilhelmina", "Winifred", "Xavier", "Yolanda", "Zachary", "Zenobia", "Zoltan",
)  # fmt: skip

FIRST = (
    "Let us begin with my name: I am {name}.",
    "You can call me {name}.",
    "Hello, this is {name} speaking.",
)

NEXT = (
    "From now on I go by the name of {name}.",
    "I have taken another name: {name}.",
    "Please call me {name} from here on.",
    "My passport says {name} as of today, so use that name.",
)

QUESTION = (
    "Which names have I gone by in our conversation? List all of them, from the first to the present one, as a JSON "
    "list of strings, and write nothing else."
)


@scenario(
    skills={"recall", "aggregation"},
    topics={"the user's name"},
    forget="Let us leave my names at that, and forget all of them.",
)
def name_list(
    dice: Dice,
    *,
    changes: int = 5,
    names: tuple[str, ...] = NAMES,
    first: tuple[str, ...] = FIRST,
    next_: tuple[str, ...] = NEXT,
) -> Script:
    """Give `changes` different names; then ask for all of them."""
    told = dice.sample(names, changes)
    for i, name in enumerate(told):
        yield Tell(dice.choice(next_ if i else first).format(name=name), at=i / changes)
    yield Ask(QUESTION, expect=lists_all(told, among=names), at=1.0)
