"""Asks an OpenAI-compatible endpoint, counts what it asked, and remembers what was answered.

Before: `questions.py` says what to ask. After: metrics read the typed answer.

Only transport is tried again: a lost connection, a timeout, 408, 409, 429 and 5xx. A malformed answer
is never asked for a second time, because that would choose among the judge's verdicts.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from streamverify._extras import require
from streamverify.errors import JudgeError, UsageError
from streamverify.evaluate.judge.cache import AnswerCache, key_of
from streamverify.evaluate.judge.questions import A, Question, as_data
from streamverify.scorers.completion import UNREADABLE, key_for, text_of, tokens_of

_LONGEST_WAIT = 60.0
_AGAIN = (408, 409, 429)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a judge was asked so far; tokens as the endpoint counts them."""

    calls: int = 0
    """Questions that went to the endpoint, each once, however often it was tried."""
    cached: int = 0
    """Questions whose answer was remembered."""
    failed: int = 0
    """Of the calls, those without a usable answer."""
    retries: int = 0
    """Further tries after a failure of transport."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    untold: int = 0
    """Answered calls for which the endpoint named no tokens."""

    def cost(self, prompt: float, completion: float) -> float:
        """Money, at prices for a million tokens."""
        return (self.prompt_tokens * prompt + self.completion_tokens * completion) / 1e6

    def __str__(self) -> str:
        """On one line."""
        asked = self.calls + self.cached
        text = (
            f"judge: {self.calls} calls, {self.cached} of {asked} cached, {self.failed} failed, "
            f"{self.retries} retries, {self.prompt_tokens} + {self.completion_tokens} tokens"
        )
        return f"{text} ({self.untold} calls without a count)" if self.untold else text


class Judge:
    """A language model that answers typed questions. Safe to use from several threads."""

    def __init__(
        self,
        endpoint: str | None = None,
        model: str = "",
        *,
        cache: Path | str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        backoff: float = 1.0,
        concurrency: int = 4,
        temperature: float | None = 0.0,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            endpoint: base address of an OpenAI-compatible API; None for what the environment says.
            model: its name there.
            cache: SQLite file with answers; made where it does not exist. None remembers nothing.
            api_key: None for the environment's; with an `endpoint` none is needed.
            timeout: seconds one try may take.
            retries: further tries after a failure of transport.
            backoff: seconds before the first of them, doubled each time; `Retry-After` goes before it.
            concurrency: requests under way at once.
            temperature: None leaves it to endpoints that refuse it.
            parameters: further fields of the request, such as `{"seed": 1}`.

        Raises:
            MissingExtraError: the extra `openai` is not installed. Caller.
            UsageError: there is no model, no key for the SDK's own endpoint, or a number is out of range.
                Caller.
            InputFileError: the cache is something else. Caller.
        """
        if not model:
            raise UsageError("name the judge's model")
        if timeout <= 0 or min(retries, backoff) < 0 or concurrency < 1:
            raise UsageError(
                "timeout must be above 0, retries and backoff at least 0, concurrency at least 1"
            )
        self._openai = require("openai", extra="openai", feature="a judge")
        key = key_for(endpoint, api_key, feature="a judge")
        try:
            self._client = self._openai.OpenAI(base_url=endpoint, api_key=key, timeout=timeout, max_retries=0)
        except self._openai.OpenAIError as error:
            raise UsageError(f"the judge's endpoint cannot be used: {error}") from None
        self.model = model
        self._sampling: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        self._sampling |= dict(parameters or {})
        self._cache = None if cache is None else AnswerCache(cache)
        self._retries, self._backoff = retries, backoff
        self._room, self._lock = threading.Semaphore(concurrency), threading.Lock()
        self._usage, self._closing = Usage(), threading.Event()

    @property
    def name(self) -> str:
        """Model and sampling; enters a run's header."""
        return f"{self.model} {key_of(self._sampling)[:8]}"

    @property
    def usage(self) -> Usage:
        """What was asked so far."""
        with self._lock:
            return self._usage

    def ask(self, question: Question[A], data: Mapping[str, Any]) -> A:
        """The judge's answer, from the cache where it was given before. Blocking.

        Args:
            question: instructions and the answer's type.
            data: texts to judge; sent as JSON, apart from the instructions.

        Raises:
            JudgeError: no answer after all tries, or one of another shape.
        """
        text = as_data(data)
        key = key_of(
            {
                "model": self.model,
                "parameters": self._sampling,
                "instructions": question.instructions,
                "data": text,
                "schema": question.reply.model_json_schema(),
                "question": question.name,
                "version": question.version,
            }
        )
        if self._cache is not None and (kept := self._cache.get(key)) is not None:
            self._count(cached=1)
            return self._read(question, kept)
        self._count(calls=1)
        try:
            with self._room:
                answer = self._complete(question.instructions, text)
            read = self._read(question, answer)
        except JudgeError:
            self._count(failed=1)
            raise
        if self._cache is not None:
            self._cache.put(key, question.name, answer)
        return read

    def close(self) -> None:
        """Close connections and cache; calling it again does nothing."""
        self._closing.set()
        self._client.close()
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _count(self, **more: int) -> None:
        with self._lock:
            self._usage = replace(
                self._usage, **{name: getattr(self._usage, name) + added for name, added in more.items()}
            )

    def _read(self, question: Question[A], answer: str) -> A:
        try:
            return question.reply.model_validate_json(answer)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise JudgeError(
                f"the answer of {self._where} is malformed: {place or 'answer'}: {first['msg']}"
            ) from None

    def _complete(self, instructions: str, data: str) -> str:
        """The judge's text."""
        for tried in range(self._retries + 1):
            try:
                return self._request(instructions, data)
            except self._openai.APIStatusError as error:
                again = error.status_code in _AGAIN or error.status_code >= 500
                problem = f"{self._where} answered {error.status_code}"
                wait = _retry_after(error.response.headers.get("retry-after"))
            except self._openai.APITimeoutError:
                again, problem, wait = True, f"{self._where} did not answer in time", None
            except self._openai.APIConnectionError as error:
                again, wait = True, None
                problem = f"{self._where} cannot be reached: {error.__cause__ or error}"
            except self._openai.OpenAIError as error:
                again, problem, wait = False, str(error), None
            except UNREADABLE as error:
                again, problem, wait = False, f"the answer of {self._where} cannot be read: {error}", None
            if not again or tried == self._retries:
                raise JudgeError(problem)
            self._count(retries=1)
            pause = wait if wait is not None else self._backoff * 2**tried
            if self._closing.wait(min(pause, _LONGEST_WAIT)):
                raise JudgeError("the judge was closed")
        raise AssertionError("unreachable")  # pragma: no cover

    @property
    def _where(self) -> str:
        """The model's address; without a user and a password, which may stand in it."""
        return f"the model at {self._client.base_url.netloc.decode()}"

    def _request(self, instructions: str, data: str) -> str:
        # The SDK's unions of TypedDicts are wider than what is sent here.
        create: Any = self._client.chat.completions.create
        completion = create(
            model=self.model,
            messages=[{"role": "system", "content": instructions}, {"role": "user", "content": data}],
            response_format={"type": "json_object"},
            **self._sampling,
        )
        used = tokens_of(completion)
        if used is None:
            self._count(untold=1)
        else:
            self._count(prompt_tokens=used[0], completion_tokens=used[1])
        content = text_of(completion)
        if content is None:
            raise JudgeError(f"the answer of {self._where} holds no text")
        return content


def _retry_after(header: str | None) -> float | None:
    """Seconds; None where the header names none."""
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None
