"""No personal data in what a reader sees, whatever else a policy decides.

Before: `policy.py` decides about a sentence. After: `streaming/session.py` shows what is left.

    releases of a sentence ──► pii/releasing.py ── up to the last sentence's end ──► releases, items replaced
"""

from __future__ import annotations

from dataclasses import dataclass, field

from streamverify.pii.items import PiiDetector
from streamverify.pii.recognisers import Recognisers
from streamverify.pii.releasing import PiiFilter
from streamverify.policy import (
    Decision,
    Flag,
    Policy,
    RepairingPolicy,
    Tally,
    repair_plan,
)
from streamverify.repair_plan import RepairPlan
from streamverify.showing.releases import FilteringPolicy, ReleaseFilter
from streamverify.types import Sentence, Verdict


@dataclass(frozen=True, slots=True)
class RedactPii:
    """Show `[email]` in place of an address of mail, and so on; the rest is up to `base`.

    Text waits until its sentence is closed, and under a `base` that holds text for its verdict too. Events
    quote passages with their items behind blocks. Report and events tell the answer as generated to the
    application; a reader's protocols and adapters tell what was shown.
    """

    base: Policy = field(default_factory=Flag)
    """Decides about each sentence as if nothing were personal."""
    detector: PiiDetector = field(default_factory=Recognisers)
    """Called in the event loop, with some sentences at a time."""
    holds_text: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        """`redact_pii`, with the base's."""
        return f"redact_pii+{self.base.name}"

    def holds(self, sentence: Sentence) -> bool:
        """Whether the base waits for the verdict of this sentence."""
        return self.base.holds_text and self.base.holds(sentence)

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:
        """As the base decides."""
        return self.base.decide(sentence, verdict, tally)

    def repair(self, sentence: Sentence, verdict: Verdict) -> RepairPlan | None:
        """As the base repairs, where it does."""
        return repair_plan(self.base, sentence, verdict) if isinstance(self.base, RepairingPolicy) else None

    def release_filter(self) -> ReleaseFilter:
        """Of one stream."""
        further = self.base.release_filter() if isinstance(self.base, FilteringPolicy) else None
        return PiiFilter(self.detector, further)
