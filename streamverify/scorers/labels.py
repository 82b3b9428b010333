"""What the outputs of a classifier mean, read from the names its maker gave them and never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelContractError
from streamverify.scorers.graphs.runtime import sigmoid, softmax
from streamverify.scorers.protocol import NliScore


class Role(Enum):
    """The part a class plays in a judgement."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"
    REST = "rest"
    """Anything but entailment: neutral and contradiction in one."""


# Space between names; read in lower case.
_ENTAILED = """entailment entail entails entailed supported support supports consistent faithful factual
    grounded attributable true yes 1"""
_NEITHER = "neutral nei not_enough_info unrelated unknown"
_CONTRADICTED = "contradiction contradict contradicts contradicted contradictory refuted refutes refute"
_NOT_ENTAILED = """not_entailment not_entailed non_entailment unsupported not_supported inconsistent
    unfaithful nonfactual not_grounded ungrounded hallucination hallucinated not_attributable false no 0"""

_NAMES: Mapping[str, Role] = {
    name: role
    for role, names in (
        (Role.ENTAILMENT, _ENTAILED),
        (Role.NEUTRAL, _NEITHER),
        (Role.CONTRADICTION, _CONTRADICTED),
        (Role.REST, _NOT_ENTAILED),
    )
    for name in names.split()
}

_COMPLETE = (
    {Role.ENTAILMENT},
    {Role.REST},
    {Role.ENTAILMENT, Role.REST},
    {Role.ENTAILMENT, Role.CONTRADICTION},
    {Role.ENTAILMENT, Role.NEUTRAL, Role.CONTRADICTION},
)


@dataclass(frozen=True, slots=True)
class LabelMap:
    """How to read one row of logits."""

    roles: tuple[Role, ...]
    """In the order of the model's outputs."""

    @property
    def contradiction(self) -> bool:
        """Whether the model tells contradiction from silence."""
        return Role.CONTRADICTION in self.roles

    def score(self, logits: NDArray[np.float32]) -> NliScore:
        """Probabilities from logits of shape (classes,): softmax, or a sigmoid where there is one."""
        if len(self.roles) == 1:
            probability = float(sigmoid(logits)[0])
            entailment = probability if self.roles[0] is Role.ENTAILMENT else 1 - probability
            return NliScore(entailment, 1 - entailment, 0.0)
        by_role = dict(zip(self.roles, softmax(logits).tolist(), strict=True))
        return NliScore(
            by_role[Role.ENTAILMENT],
            by_role.get(Role.NEUTRAL, 0.0) + by_role.get(Role.REST, 0.0),
            by_role.get(Role.CONTRADICTION, 0.0),
        )


def label_map(names: Sequence[str]) -> LabelMap:
    """How to read a classifier whose outputs bear these names, in this order.

    Case, blanks and hyphens do not matter. `0` and `1` are read as `not entailed` and `entailed`.

    Raises:
        ModelContractError: a name says nothing (`LABEL_0`), or the classes make up no judgement. Operator.
    """
    roles = []
    for name in names:
        role = _NAMES.get("_".join(name.lower().replace("-", " ").replace("_", " ").split()))
        if role is None:
            raise ModelContractError(
                f"the model calls its classes {list(names)}, and {name!r} does not say what it means; pass "
                "labels=(…) with 'entailment', 'neutral', 'contradiction' or 'not_entailment', in its order"
            )
        roles.append(role)
    if set(roles) not in _COMPLETE or len(set(roles)) != len(roles):
        raise ModelContractError(
            f"classes {list(names)} make up no judgement; expected entailment, neutral and contradiction, "
            "or entailment and one other, or one of them alone"
        )
    return LabelMap(tuple(roles))
