"""Callers that ask at the same time share a run; nobody waits for company.

    ask ── nothing runs ──► a run with this question alone
     └─ a run is under way ── wait ──► the next run takes all that wait, oldest first, up to a limit

There is no thread and no timer: of those that wait, the one that came first computes for the others, and the
run it computes holds its own question. So one stream alone is answered at once, and under load runs grow by
themselves: what came while one was computed is the next.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from streamverify.errors import ScoringError
from streamverify.scorers.protocol import Abort

QuestionT = TypeVar("QuestionT")
AnswerT = TypeVar("AnswerT")

CALLED_OFF = "stopped: the check was called off"


class _Asked(Generic[QuestionT, AnswerT]):
    """A question of one caller, and what became of it."""

    __slots__ = ("answer", "error", "given_up", "question", "stirred")

    def __init__(self, question: QuestionT) -> None:
        self.question = question
        self.answer: list[AnswerT] = []
        self.error: Exception | None = None
        self.given_up = False
        self.stirred = threading.Event()
        """Set when its caller has to look again."""


class Batches(Generic[QuestionT, AnswerT]):
    """Gathers questions into runs, one run at a time; safe to use from several threads."""

    def __init__(
        self,
        run: Callable[[Sequence[QuestionT], Abort], Sequence[AnswerT]],
        *,
        limit: int,
        size: Callable[[QuestionT], int],
    ) -> None:
        """Nothing runs yet.

        Args:
            run: the answers to some questions, in order; ends soon when the abort is set. Where it fails for
                several, it is asked for halves of them, so that a question fails by itself only.
            limit: of the sizes of a run's questions together. One that is larger has a run of its own.
            size: of a question, 0 or more.
        """
        self._run, self._limit, self._size = run, limit, size
        self._lock = threading.Lock()
        self._waiting: deque[_Asked[QuestionT, AnswerT]] = deque()
        self._running: list[_Asked[QuestionT, AnswerT]] = []
        self._abort = Abort()

    def ask(self, question: QuestionT, *, abort: Abort) -> AnswerT:
        """The answer to a question. Blocking.

        Args:
            question: as `run` takes it.
            abort: when set, the call ends soon with `ScoringError`; a run is called off once all who asked
                for it have gone. The caller that computes for others stays until that run has ended.

        Raises:
            ScoringError: `abort` was set.
            Exception: what `run` raised for this question.
        """
        mine = _Asked[QuestionT, AnswerT](question)
        with self._lock:
            self._waiting.append(mine)
        detach = abort.attach(lambda: self._give_up(mine))
        try:
            while not (mine.answer or mine.error):
                if batch := self._lead(mine):
                    self._answer(batch)
                    continue
                if mine.given_up:
                    raise ScoringError(CALLED_OFF)
                mine.stirred.wait()
                mine.stirred.clear()
        finally:
            detach()
            self._leave(mine)
        if mine.error:
            raise mine.error
        return mine.answer[0]

    def _lead(self, mine: _Asked[QuestionT, AnswerT]) -> list[_Asked[QuestionT, AnswerT]]:
        """The next run, where nothing runs and it is the turn of this caller; empty else."""
        with self._lock:
            if self._running or mine.given_up or not self._waiting or self._waiting[0] is not mine:
                return []
            total = 0
            while self._waiting:
                total += self._size(self._waiting[0].question)
                if self._running and total > self._limit:
                    break
                taken = self._waiting.popleft()
                if not taken.given_up:
                    self._running.append(taken)
            self._abort = Abort()
            return list(self._running)

    def _answer(self, batch: list[_Asked[QuestionT, AnswerT]]) -> None:
        try:
            self._compute(batch)
        finally:
            for one in batch:
                if not one.answer and one.error is None:  # the thread itself was told to end
                    one.error = ScoringError("the run was broken off")
            with self._lock:
                self._running = []
                following = list(self._waiting)[:1]
            for one in (*batch, *following):
                one.stirred.set()

    def _compute(self, batch: list[_Asked[QuestionT, AnswerT]]) -> None:
        try:
            answers = self._run([one.question for one in batch], self._abort)
            for one, answer in zip(batch, answers, strict=True):
                one.answer.append(answer)
        except Exception as error:  # noqa: BLE001 - raised where it was asked for
            if len(batch) > 1 and not self._abort.is_set:
                middle = len(batch) // 2
                self._compute(batch[:middle])
                self._compute(batch[middle:])
                return
            for one in batch:
                one.error = error if len(batch) == 1 else ScoringError(CALLED_OFF)

    def _give_up(self, mine: _Asked[QuestionT, AnswerT]) -> None:
        """Its caller wants no answer any more."""
        with self._lock:
            mine.given_up = True
            over = mine in self._running and all(one.given_up for one in self._running)
            abort = self._abort
        if over:
            abort.set()
        mine.stirred.set()

    def _leave(self, mine: _Asked[QuestionT, AnswerT]) -> None:
        """Its caller has gone, with an answer or without; the next one may have its turn."""
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
            following = list(self._waiting)[:1]
        for one in following:
            one.stirred.set()
