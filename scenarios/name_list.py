"""Name list: the user goes by one name after another, and finally asks for all of them."""

from ltm_bench import Ask, Dice, Script, Tell, lists_all, scenario

NAMES = (
    "Abigail", "Alistair", "Anneliese", "Barnaby", "Beatrice", "Benedict", "Bronwen", "Callum", "Cordelia", "Cormac",
    "Delphine", "Desmond", "Dorothea", "Edmund", "Eleanor", "Emrys", "Felicity", "Finnegan", "Frederica", "Gideon",
    "Gwendolyn", "Harriet", "Hubert", "Ingrid", "Isadora", "Jocelyn", "Julius", "Keziah", "Lachlan", "Leonora",
    "Lysander", "Magnus", "Marguerite", "Matilda", "Mortimer", "Nathaniel", "Octavia", "Orlando", "Penelope", "Phineas",
    "Quentin", "Raphael", "Rosalind", "Rupert", "Saskia", "Seraphina", "Silas", "Tabitha", "Thaddeus", "Ulysses",
    "Ursula", "Valentina", "Vincent", "Wilhelmina", "Winifred", "Xavier", "Yolanda", "Zachary", "Zenobia", "Zoltan",
)  # fmt: skip

PLACES = (
    "the chess club", "the poetry evenings", "the puppet theatre", "the pub quiz", "the rowing club",
    "the village fair",
    "the writing group", "the costume ball", "the book club", "the bowling alley", "the amateur circus",
    "the life drawing class", "the film society", "the dance school", "the improvised theatre", "the pottery class",
    "the community garden", "the ski school", "the debating society", "the language exchange", "the birdwatchers' hut",
    "the night market", "the sewing circle", "the climbing hall",
)  # fmt: skip
"""Where the user goes by these names: each example has its own place, so it is clear which list a question means."""

FIRST = (
    "I do not use my own name at {place}. To begin with, I am {name} there.",
    "Nobody knows my real name at {place}: I started out as {name}.",
    "You will laugh, but at {place} I use made-up names. The first one is {name}.",
    "Let me tell you about my names at {place}. I begin as {name}.",
    "I am {name} at {place}, though that is not my real name.",
    "I needed an alias for {place}, and the first that I took was {name}.",
)

NEXT = (
    "From now on I go by the name of {name} at {place}.",
    "I have taken another name for {place}: {name}.",
    "At {place} they call me {name} from today on.",
    "Another change of name: at {place} I am now known as {name}.",
    "My badge for {place} says {name} now, so that is my name there.",
    "I grew tired of my name at {place}. It is {name} now.",
    "Call me {name} at {place} from now on.",
    "I am {name} now whenever I am at {place}.",
    "Meet {name}: that is my new name at {place}.",
)

QUESTIONS = (
    "Which names have I used at {place}, from the first to the present one? Answer with a JSON list of strings and "
    "nothing else.",
    "List every name that I have gone by at {place}, including the present one, as a JSON list of strings. Please "
    "write "
    "nothing else.",
    "What are all the names that I have had at {place} so far? Give me a JSON list of strings, without any other text.",
    "Please put together all my names at {place}, old and new, as a JSON list of strings and nothing else.",
)


@scenario(
    skills={"recall", "aggregation"},
    topics={"the user's name"},
    forget="Let us leave my made-up names at that.",
    version=2,
)
def name_list(
    dice: Dice,
    *,
    changes: int = 5,
    names: tuple[str, ...] = NAMES,
    places: tuple[str, ...] = PLACES,
    first: tuple[str, ...] = FIRST,
    next_: tuple[str, ...] = NEXT,
) -> Script:
    """Give `changes` different names for use in one place; then ask for all of them."""
    told, place = dice.hand("names", names, changes), dice.card("place", places)
    for i, name in enumerate(told):
        yield Tell(dice.choice(next_ if i else first).format(name=name, place=place), at=i / changes)
    yield Ask(dice.choice(QUESTIONS).format(place=place), expect=lists_all(told, among=names), at=1.0)
