"""What the engine's tests judge: four prompts, five responses of about 200 words to each, ten criteria."""

from __future__ import annotations

from typing import Any

CRITERIA = (
    "The response answers the question that was asked.",
    "The response gives at least one concrete figure.",
    "The response names a mistake that beginners make.",
    "The response is written in complete sentences.",
    "The response explains why a step matters, not only what to do.",
    "The response mentions how long something takes.",
    "The response warns of a danger.",
    "The response addresses the reader directly.",
    "The response ends with a summary.",
    "The tone of the response is friendly.",
)

_TEXTS = {
    "How do I bake a plain loaf of bread at home?": """
Weigh five hundred grams of strong flour into a bowl and stir in two small spoons of salt.
Warm three hundred and fifty grams of water until it feels neither hot nor cold on your wrist.
Crumble seven grams of dry yeast into the water and leave it alone until a light foam appears.
Mix everything with a wooden spoon, and do not add more flour merely because the dough sticks.
Knead for ten minutes, since the stretching builds the net that will later hold the bubbles.
Cover the bowl with a damp cloth, for a dry skin on the dough would stop it from rising.
Wait about an hour in a warm corner, until it has grown to twice the size it had before.
Fold the edges into the middle, turn the ball over, and let it rest on a floured board.
Heat the oven to two hundred and thirty degrees with an empty pan standing on its lowest rack.
Pour a cup of boiling water into that pan, keeping your arm away from the rush of steam.
Bake for thirty five minutes, then knock on the bottom of the loaf and listen for a hollow sound.
Let it cool on a rack for an hour, because a loaf that is cut while hot turns gummy inside.
""",
    "How can I keep a small aquarium healthy?": """
Start with a tank of at least sixty litres, as small volumes of water change their mood quickly.
Rinse the gravel in a bucket until the water runs clear, and never use soap for that purpose.
Let the filter run for four weeks before the first fish, so that useful bacteria can settle in it.
Test the water twice a week during that time, and expect the nitrite to climb and then vanish.
Add a few hardy plants early, since they take up what would otherwise feed the green algae.
Choose six small fish of one kind rather than one each of six, for most of them live in schools.
Feed only what is eaten within two minutes, as leftovers rot and poison everyone in the tank.
Change a quarter of the water every week with tap water of the same temperature as the old.
Squeeze out the filter sponge in the water you removed, because chlorine would kill its bacteria.
Keep the lamp on for eight hours a day and no longer, whatever the shop may have told you.
Watch the fish for a minute each evening, since a change in their habits shows trouble first.
Keep a newcomer apart for two weeks, so that any illness it carries shows before it can spread.
""",
    "What should I know before my first night hike?": """
Walk the route once by day, because familiar bends look like strangers when the sun has gone.
Carry two lamps and spare batteries, as a single light that fails leaves you sitting until dawn.
Use the red beam while you look at the map, since white light blinds your eyes for twenty minutes.
Tell somebody at home when you will be back and whom they should call if you are not there.
Plan for half of your usual speed, for careful feet cover no more than two kilometres in an hour.
Dress in thin layers, put on the next one before you feel cold, and keep a dry shirt in the pack.
Drink a little every half hour even without thirst, and eat something warm at the turning point.
Listen before you cross a road, because drivers do not expect anyone on foot at such an hour.
Make some noise in thick woods, so that boars and deer hear you early and move out of your way.
Stay together, let the slowest of you lead, and count heads after every junction on the way.
Turn around when fog comes in, since a lamp in fog shows nothing but a bright and empty wall.
Beginners hurry on the way down, and that is where tired knees and loose stones meet each other.
""",
    "How do I prepare a talk of ten minutes?": """
Write down in one sentence what the listeners shall remember, and measure all else against it.
Ten minutes hold about thirteen hundred words, which is far less than most speakers believe.
Begin with a small story or a question, since the first half minute decides who listens at all.
Give each of three points its own example, because people keep pictures longer than they keep rules.
Put no more than six lines on a slide, for nobody can read your slides and hear you together.
Say the talk aloud five times with a clock beside you, and cut rather than speak faster.
Learn the first and the last sentence by heart, so that nerves cannot trouble you where it counts.
Visit the room beforehand, try the plug and the microphone, and stand once in the farthest row.
Look at one face for a whole thought, then at another, as a wandering gaze seems to be in flight.
Pause after a number, count silently to two, and you will find that the room has become quiet.
When you lose the thread, drink some water and repeat your last point in other words.
Close with the sentence that you wrote down at first, thank them, and stop before your time is up.
""",
}


def questions() -> list[tuple[str, str]]:
    """Twenty pairs of a prompt and a response to it; those to one prompt differ in their sentences' order."""
    pairs = []
    for prompt, text in _TEXTS.items():
        sentences = text.split("\n")[1:-1]
        pairs += [(prompt, " ".join(sentences[turn:] + sentences[:turn])) for turn in range(5)]
    return pairs


def groups() -> list[dict[str, Any]]:
    """The same as twenty groups of one response, each with a check before the ten criteria."""
    check = {"id": "check", "check": "length_constraints:number_words"}
    check["kwargs"] = {"num_words": 100, "relation": "at least"}  # type: ignore[assignment]
    rubrics = [check, *({"criterion": criterion} for criterion in CRITERIA)]
    return [{"prompt": prompt, "rubrics": rubrics, "responses": [text]} for prompt, text in questions()]
