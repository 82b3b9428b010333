"""What the tests of every integration use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from provider_loopback import SCRIPT, Provider, serving

from streamverify import Verifier
from streamverify.testing import ScriptedScorer


@pytest.fixture
def anyio_backend() -> str:
    """LangChain and LlamaIndex run on nothing else; the SDKs drop generators, of which trio warns."""
    return "asyncio"


@pytest.fixture(scope="module")
def loopback() -> Iterator[Provider]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(ScriptedScorer(SCRIPT)) as made:
        yield made
