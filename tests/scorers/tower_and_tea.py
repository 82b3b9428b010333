"""Passages on two matters, and claims that they support, contradict or leave open."""

TEXTS = (
    "The Eiffel Tower was completed in 1889 and stands 330 metres tall.",
    "Green tea contains antioxidants called catechins. It also contains caffeine.",
    "The tower was the tallest structure in the world for 41 years, until 1930.",
    "Black tea contains caffeine too; the tower has 1,665 steps.",
    "Cats sleep for most of the day.",
)
CLAIMS = (
    "The tower was finished in 1889.",
    "Tea contains caffeine.",
    "The tower is 450 metres tall and has 1,665 steps.",
    "Nothing of this kind is said.",
)
