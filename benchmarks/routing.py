"""What Thompson sampling loses until it knows: simulated regret beside an even split.

    python benchmarks/routing.py [--seeds 20]

Each arm's answers are faithful with a probability of its own, four claims each. The regret is what the best
arm would have gained over what was chosen, in answers. The arms are simulated; the router is the real one.
"""

from __future__ import annotations

import argparse
import random
import statistics

from streamverify.monitor import ThompsonRouter

CLAIMS = 4
TIMES = (100, 1_000, 5_000)
ARMS = {
    "clear": {"one passage": 0.70, "three passages": 0.90},
    "close": {"one passage": 0.85, "three passages": 0.90},
    "equal": {"one passage": 0.90, "three passages": 0.90},
}


def regret(worth: dict[str, float], seed: int) -> list[float]:
    """After each of `TIMES` answers."""
    router, drawn = ThompsonRouter(list(worth), seed=seed), random.Random(seed)
    best, lost, found = max(worth.values()), 0.0, []
    for number in range(1, TIMES[-1] + 1):
        arm = router.choose()
        router.reward(arm, sum(drawn.random() < worth[arm] for _ in range(CLAIMS)) / CLAIMS)
        lost += best - worth[arm]
        if number in TIMES:
            found.append(lost)
    return found


def main() -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print("arms    answers  regret (mean of seeds)  worst seed  even split")
    for name, worth in ARMS.items():
        runs = [regret(worth, seed) for seed in range(options.seeds)]
        even = statistics.mean(max(worth.values()) - one for one in worth.values())
        for place, count in enumerate(TIMES):
            lost = [run[place] for run in runs]
            mean, split = statistics.mean(lost), even * count
            print(f"{name:<6}  {count:>7}  {mean:>22.1f}  {max(lost):>10.1f}  {split:>10.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
