"""Guardrails AI: an `AsyncGuard` a stream with a validator of our own, as its documentation has custom ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

from guardrails import AsyncGuard
from guardrails.validator_base import FailResult, PassResult, Validator, register_validator
from streams import WITHHELD, Checker, Opened, Source


@register_validator(name="checked", data_type="string")
class Checked(Validator):
    """Blocking; Guardrails calls it in its event loop's pool of threads."""

    def __init__(self, checker: Checker, on_fail: str) -> None:
        super().__init__(on_fail=on_fail)
        self._checker = checker

    def _validate(self, value: Any, metadata: dict[str, Any]) -> PassResult | FailResult:
        del metadata
        if self._checker(value):
            return PassResult()
        return FailResult(error_message="not supported", fix_value=WITHHELD)


def made(checker: str, mode: str) -> Any:
    """What `mode` says happens to a text that fails: `fix` replaces it."""
    del checker

    def make(checks: Checker, passages: list[str]) -> Opened:
        del passages  # the checker has them
        guard = AsyncGuard().use(Checked(checks, mode))

        async def opened(source: Source) -> AsyncGenerator[str, None]:
            async def model(*, messages: list[dict[str, str]], **options: Any) -> Any:
                del messages, options
                return SimpleNamespace(completion_stream=source.read())  # where Guardrails looks for it

            outcomes = await guard(model, messages=[{"role": "user", "content": "?"}], stream=True)
            async with aclosing(outcomes):
                async for outcome in outcomes:
                    yield outcome.validated_output or ""

        return opened

    return make
