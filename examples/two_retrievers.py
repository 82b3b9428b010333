"""Two retrievers, and a router that learns from verified answers which one to ask.

The lexical scorer stands in for the model, so that it runs in a second; the generator is a stand-in too.
"""

from streamverify import Verifier
from streamverify.monitor import ThompsonRouter, arm_of

PASSAGES = {
    "leave": "Employees have 30 days of leave a year.",
    "carry": "Unused leave may be carried over until March.",
    "canteen": "The canteen opens at noon on weekdays.",
    "parking": "Parking costs 40 euros a month for employees.",
}
QUESTION = "How much leave do employees have, and can it be carried over?"
ANSWER = "Employees have 30 days of leave a year. Unused leave may be carried over until March."


def retrieve(count):
    """The passages that share most words with the question."""
    asked = set(QUESTION.lower().split())
    ranked = sorted(PASSAGES, key=lambda name: -len(asked & set(PASSAGES[name].lower().split())))
    return [{"id": name, "text": PASSAGES[name]} for name in ranked[:count]]


RETRIEVERS = {"one passage": lambda: retrieve(1), "three passages": lambda: retrieve(3)}
router = ThompsonRouter(list(RETRIEVERS), seed=1)
chosen = dict.fromkeys(RETRIEVERS, 0)
with Verifier(scorer="lexical", observers=[router]) as verifier:
    for _ in range(60):
        arm = router.choose()
        chosen[arm] += 1
        verifier.check_sync(ANSWER, RETRIEVERS[arm](), question=QUESTION, context={"run": arm})
        verifier.drain_observers(10)  # one after the other here; live traffic need not wait

for arm, state in router.state.items():
    print(f"{arm:<15} asked {chosen[arm]:>2} times, worth {state.mean:.2f}")
print("Without learning, user u1 belongs to:", arm_of("u1", "retrievers", list(RETRIEVERS)))
