"""An LLM as the judge: any OpenAI-compatible endpoint, asked for probabilities in a fixed shape.

    claim, windows ── JSON, as data ──► chat completion ──► JSON, checked ──► probabilities

Passages are somebody else's text and may hold instructions. They are therefore sent as JSON strings in
a message of their own, the instructions are in the system message only and say so, and the answer
can be nothing but numbers and words of the claim: what a passage can still do is to sway a number.

Each request is a task on a private event loop, so that calling a check off closes its connection at once.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from streamverify._extras import require
from streamverify.calibration import Calibration
from streamverify.errors import ScoringError, StreamStateError, UsageError
from streamverify.loops.portal import PerProcess, Portal
from streamverify.scorers.completion import UNREADABLE, key_for, text_of
from streamverify.scorers.judge_answer import FORMATS, INSTRUCTIONS, JudgeAnswer, ResponseFormat, read_answer
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    Prepared,
    TokenRisk,
    Traits,
    Window,
    WindowScore,
)
from streamverify.scorers.selection import LexicalIndex
from streamverify.text.unicode import encodable
from streamverify.types import Fingerprint, Span

if TYPE_CHECKING:
    from openai import AsyncOpenAI  # an extra; only named here

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class _PreparedWindows:
    windows: tuple[Window, ...]
    index: LexicalIndex
    vocabulary: dict[str, int]
    from_cache: int = 0

    def ids(self, text: str) -> list[int]:
        """The words of a text that occur in the windows."""
        return [self.vocabulary[word] for word in _words(text) if word in self.vocabulary]


class _Line(NamedTuple):
    """The running side of a scorer."""

    client: AsyncOpenAI
    limit: anyio.CapacityLimiter


class _Lines:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.line: _Line | None = None


class LLMJudgeScorer:
    """Scores claims by asking a language model. Safe to call from several threads.

    Nothing is sent before the first claim is scored. What is sent: the claim and the windows that
    share most with it. A forked child opens connections of its own.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: AsyncOpenAI | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        concurrency: int = 4,
        windows: int = 8,
        window_tokens: int = 300,
        temperature: float | None = 0.0,
        calibration: Calibration | None = None,
    ) -> None:
        """Nothing is opened yet.

        Args:
            model: name as the endpoint knows it.
            base_url: of an OpenAI-compatible endpoint; None for what the SDK takes from the environment.
            api_key: None for the environment's; with a `base_url` none is needed.
            client: an `AsyncOpenAI` made for this scorer, in place of the two; it is used on the scorer's
                own event loop with its own timeout and retries, and closed with the scorer.
            timeout: seconds one request may take.
            retries: further tries after 408, 409, 429, 5xx, a timeout or a lost connection; the SDK waits
                between them, and heeds `Retry-After`.
            concurrency: requests under way at once.
            windows: windows a claim is shown, those that share most with it; cited ones come on top.
            window_tokens: longest window, in words and punctuation marks.
            temperature: of the sampling; None leaves it to endpoints that refuse it.
            calibration: None takes the judge's probability as it is.

        Raises:
            MissingExtraError: the extra `openai` is not installed. Caller.
            UsageError: a number is out of range, a client is given beside an address, or there is neither a
                key nor a `base_url`. Caller.
        """
        if timeout <= 0 or retries < 0 or min(concurrency, windows, window_tokens) < 1:
            raise UsageError(
                "timeout must be above 0, retries at least 0; concurrency, windows, window_tokens at least 1"
            )
        if client is not None and (base_url is not None or api_key is not None):
            raise UsageError("give a client, or base_url and api_key, not both")
        self._openai = require("openai", extra="openai", feature="LLMJudgeScorer")
        self._model, self._windows = model, windows
        key = key_for(base_url, api_key, feature="LLMJudgeScorer") if client is None else None
        self._address, self._given = {"base_url": base_url, "api_key": key}, client
        given = client.base_url if client is not None else base_url
        self._provider = str(given) if given is not None else "openai"
        self._options: dict[str, Any] = {"timeout": timeout, "max_retries": retries}
        self._sampling: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        self._format: ResponseFormat = "json_schema"
        # A daemon's thread: a program that does not close the scorer ends all the same.
        self._portal = Portal("streamverify-judge", owner="scorer")
        self._lines = PerProcess(_Lines)
        self._opened_in: int | None = None
        self._closed = False
        self._traits = Traits(
            window_tokens=window_tokens,
            claim_tokens=400,
            concurrency=concurrency,
            calibration=calibration or Calibration(),
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's name and the endpoint; what runs behind them is not ours to know."""
        return Fingerprint(model=self._model, precision="unknown", provider=self._provider)

    @property
    def traits(self) -> Traits:
        """Words and punctuation marks count as tokens; any language."""
        return self._traits

    def token_spans(self, text: str) -> Sequence[Span]:
        """Words and punctuation marks; the model's own tokenizer is not known."""
        return [Span(*match.span()) for match in _WORD.finditer(text)]

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Index the windows by their words; nothing is sent.

        Raises:
            ScoringError: `abort` was set.
        """
        vocabulary: dict[str, int] = {}
        ids = []
        for window in windows:
            if abort.is_set:
                raise ScoringError("stopped: the check was called off")
            ids.append([vocabulary.setdefault(word, len(vocabulary)) for word in _words(window.text)])
        return _PreparedWindows(tuple(windows), LexicalIndex(ids), vocabulary)

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Ask about each claim on its own, several at once; in order.

        Raises:
            ScoringError: a request failed after its retries, an answer is malformed, or `abort` was set.
            StreamStateError: the scorer is closed. Caller.
        """
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        line = self._open()
        asked: list[Future[ClaimScore]] = [
            self._portal.begin(partial(self._score, line, prepared, claim)) for claim in claims
        ]

        def call_off() -> None:
            for future in asked:
                future.cancel()

        detach = abort.attach(call_off)
        try:
            return [future.result() for future in asked]
        except CancelledError as error:
            raise ScoringError("stopped: the check was called off") from error
        finally:
            detach()
            call_off()

    def close(self) -> None:
        """Call off what is under way, close the connections and end the event loop."""
        lines = self._lines.here
        with lines.lock:
            self._closed = True
            line, lines.line = lines.line, None
        if line is not None:
            self._portal.finish(line.client.close)
        self._portal.close()

    def _open(self) -> _Line:
        lines = self._lines.here
        with lines.lock:
            if self._closed:
                raise StreamStateError("the scorer is closed")
            if lines.line is None:
                if self._given is not None and self._opened_in not in (None, os.getpid()):
                    raise StreamStateError(
                        "this process was forked and the judge's client has the parent's connections: "
                        "give LLMJudgeScorer a base_url in place of a client, or make it in the child"
                    )
                lines.line = self._portal.run(self._connect)
                self._opened_in = os.getpid()
            return lines.line

    async def _connect(self) -> _Line:
        client = self._given
        if client is None:
            client = self._openai.AsyncOpenAI(**self._address, **self._options)
        return _Line(client, anyio.CapacityLimiter(self._traits.concurrency))

    async def _score(self, line: _Line, prepared: _PreparedWindows, claim: Claim) -> ClaimScore:
        best: list[int] = []
        if not claim.only_focus:
            hints = [prepared.ids(hint) for hint in claim.hints]
            best = sorted(prepared.index.best(prepared.ids(claim.text), self._windows, hints))
        grouped = [window for group in claim.together for window in group]
        shown = list(dict.fromkeys([*best, *claim.focus, *grouped]))
        async with line.limit:
            answer = await self._ask(line.client, claim.text, [prepared.windows[window] for window in shown])
            # Sets of windows that are to be read together are questions of their own.
            together = []
            for group in claim.together:
                asked = await self._ask(
                    line.client, claim.text, [prepared.windows[window] for window in group]
                )
                together.append(asked.together.score())
        single = [
            WindowScore(window, entry.score()) for window, entry in zip(shown, answer.passages, strict=True)
        ]
        return ClaimScore(
            single=tuple(sorted(single, key=lambda entry: (-entry.score.entailment, entry.window))),
            joint=answer.together.score() if len(shown) > 1 else None,
            together=tuple(together),
            tokens=_risks(claim.text, answer.unsupported),
            tokens_scored=len(self.token_spans(claim.text)),
            passes=1 + len(claim.together),
        )

    async def _ask(self, client: AsyncOpenAI, claim: str, windows: Sequence[Window]) -> JudgeAnswer:
        passages = [
            {"number": number, "title": encodable(window.title), "text": encodable(window.text)}
            for number, window in enumerate(windows, 1)
        ]
        data = json.dumps({"claim": encodable(claim), "passages": passages}, ensure_ascii=False)
        try:
            text = await self._complete(client, data)
        except self._openai.APIStatusError as error:
            raise ScoringError(f"the judge answered {error.status_code}: {error.message}") from error
        except self._openai.APITimeoutError as error:
            raise ScoringError(f"the judge did not answer within its time ({client.timeout} s)") from error
        except self._openai.OpenAIError as error:
            raise ScoringError(f"the judge cannot be reached: {error}") from error
        except UNREADABLE as error:
            raise ScoringError(f"the judge's answer cannot be read: {error}") from error
        return read_answer(text, len(windows))

    async def _complete(self, client: AsyncOpenAI, data: str) -> str:
        """The judge's text, in the strictest format the endpoint takes."""
        asked = self._format
        try:
            text = await self._request(client, data, asked)
        except (self._openai.BadRequestError, self._openai.UnprocessableEntityError):
            if asked == "json_object":
                raise
            text = await self._request(client, data, "json_object")
            # It was the format that was refused: do not ask for it again.
            self._format = "json_object"
        return text

    async def _request(self, client: AsyncOpenAI, data: str, answer_format: ResponseFormat) -> str:
        # The SDK's unions of TypedDicts are wider than what is sent here.
        create: Any = client.chat.completions.create
        completion = await create(
            model=self._model,
            messages=[{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": data}],
            response_format=FORMATS[answer_format],
            **self._sampling,
        )
        content = text_of(completion)
        if content is None:
            raise ScoringError("the judge's answer holds no text")
        return content


def _risks(claim: str, unsupported: Sequence[str]) -> tuple[TokenRisk, ...]:
    """Risk 1 for the words inside a quoted part, 0 for the others; parts that do not occur are ignored."""
    spans = [
        (start, start + len(part))
        for part in unsupported
        if part.strip() and (start := claim.find(part)) >= 0
    ]
    risks = []
    for match in _WORD.finditer(claim):
        inside = any(start < match.end() and match.start() < end for start, end in spans)
        risks.append(TokenRisk(match.start(), match.end(), float(inside)))
    return tuple(risks)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text) if word[0].isalnum()]
