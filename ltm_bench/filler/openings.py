"""Opening lines of filler: thousands of variations in the style of the talk around them, so that no pattern fits."""

from ltm_bench.core.dice import Dice

LEADS = (
    "",
    "By the way,",
    "Before I forget,",
    "While I think of it,",
    "Something else:",
    "One more thing:",
    "On another note,",
    "In the meantime,",
    "Between ourselves,",
    "For a change,",
    "As promised,",
    "If you have a minute,",
    "While the kettle boils,",
    "Over breakfast,",
    "After lunch,",
    "Back to work:",
    "Just for fun,",
    "To pass the time,",
    "Now then,",
    "Well,",
    "Listen,",
    "Anyway,",
    "Here we go:",
    "Once more,",
    "As usual,",
    "From my notebook:",
    "For the record,",
    "You know,",
    "Good news:",
    "About something else:",
    "A small request:",
    "I am back.",
    "That was quick.",
    "Thank you so far.",
    "What a day.",
    "It is raining again.",
    "My tea is cold.",
    "Where were we?",
    "The phone rang.",
    "I could not sleep.",
    "It is quiet here.",
    "Dinner is in the oven.",
    "My desk is a mess.",
    "I have ten minutes.",
    "You will like this.",
    "Let me see.",
    "The post has come.",
    "I am waiting for the plumber.",
)
"""Its beginning: a phrase that a sentence continues, or a complete sentence."""

SUBJECTS = (
    "here are some quiz cards.",
    "here is a little general knowledge.",
    "I have some questions with their answers.",
    "I am sorting my quiz cards.",
    "my niece is preparing for a quiz.",
    "our team has to learn these.",
    "let us go through some trivia.",
    "there is more in the quiz book.",
    "we are putting together a quiz.",
    "these facts want typing up.",
    "please take these facts as well.",
    "I copied these out of an almanac.",
    "my uncle collects facts like these.",
    "the next page of the quiz book looks like this.",
    "a colleague sent me these questions.",
    "an old box of quiz cards has turned up.",
    "the children had these at school.",
    "you may know some of these.",
    "another sheet of trivia is due.",
    "half of these were new to me.",
    "my friends argued over these.",
    "a magazine had this quiz.",
    "this is for the trivia file.",
    "my flashcards are ready.",
    "the next round of questions is here.",
    "these came with the tea bags.",
    "somebody left a quiz on the bus.",
    "I keep learning things like these.",
    "the calendar asks such things.",
    "some of this might be useful one day.",
    "we have got as far as this in the quiz.",
    "nobody at home knew these.",
    "this is what I learned today.",
    "quiz night is coming closer.",
    "the almanac goes on.",
    "general knowledge never hurts.",
)
"""Its subject, as the rest of a sentence."""

REQUESTS = (
    "Please send the answers back as a JSON list.",
    "Reply with the answers alone, as a JSON list.",
    "Return the given answers as a JSON list.",
    "Give me the answers as a JSON list and nothing else.",
    "Put the answers into a JSON list, in this order.",
    "I only need the answers, as a JSON list.",
    "Just the answers, please, as a JSON list.",
    "Collect the answers in a JSON list for me.",
    "Would you give back the answers as a JSON list?",
    "A JSON list of the answers will do.",
)
"""The request to the agent."""


def opening(dice: Dice) -> str:
    """Return the first line of a filler message. It rolls three numbers."""
    lead, subject, request = dice.choice(LEADS), dice.choice(SUBJECTS), dice.choice(REQUESTS)
    if lead[-1:] not in (",", ":"):
        subject = subject[0].upper() + subject[1:]
    return " ".join((lead, subject, request)).lstrip()
