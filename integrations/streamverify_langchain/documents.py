"""Where a chain's documents come from: its retriever runs, and what it passes on under a key."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document


class RunTree:
    """Which runs belong together: every run of one call has the same root.

    A root is the topmost run that was seen, and is forgotten with all its runs when it ends. Runs may
    begin and end in any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._roots: dict[UUID, UUID] = {}
        self._runs: dict[UUID, list[UUID]] = {}

    def begin(self, run: UUID, parent: UUID | None) -> UUID:
        """The root of a run that starts now."""
        with self._lock:
            root = self._roots.get(parent, run) if parent is not None else run
            self._roots[run] = root
            self._runs.setdefault(root, []).append(run)
        return root

    def root(self, run: UUID | None) -> UUID | None:
        """The root of a run, or None where it was never seen."""
        return self._roots.get(run) if run is not None else None

    def end(self, run: UUID) -> bool:
        """Whether this run was a root; it and its runs are forgotten then."""
        with self._lock:
            if self._roots.get(run) != run:
                return False
            for one in self._runs.pop(run):
                self._roots.pop(one, None)
        return True

    def __len__(self) -> int:
        """Runs that are remembered."""
        return len(self._roots)


class DocumentTap(BaseCallbackHandler):
    """Collects what the retrievers of each call return, for a `VerifiedChatModel` in the same call.

    Hand it in with the call's or the chain's callbacks; one serves any number of calls at once, from any
    thread, and forgets a call's documents when the call ends.
    """

    run_inline = True  # called where the retriever runs, so the documents are there before the first token
    raise_error = True  # documents that cannot be taken must not become an answer that was not checked
    # Nothing a model says matters here, and LangChain would make calls for every token.
    ignore_llm = ignore_chat_model = ignore_agent = ignore_retry = ignore_custom_event = True

    def __init__(self, told: Callable[[Sequence[Document]], object] | None = None) -> None:
        """Nothing is collected yet.

        Args:
            told: called with the documents of each retriever run, as they come.
        """
        self._told = told
        self._runs = RunTree()
        self._documents: dict[UUID, list[Document]] = {}
        self._retrieving: dict[UUID, bool] = {}

    def root(self, run: UUID | None) -> UUID | None:
        """The run of the whole call that `run` belongs to; None where it was not seen."""
        return self._runs.root(run)

    def documents(self, run: UUID | None) -> Sequence[Document]:
        """What was retrieved so far in the call that `run` belongs to, in order."""
        root = self._runs.root(run)
        return tuple(self._documents.get(root, ())) if root is not None else ()

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002 - LangChain's signature
        inputs: dict[str, Any],  # noqa: ARG002
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Remember where the run belongs."""
        self._runs.begin(run_id, parent_run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget a call that has ended."""
        if self._runs.end(run_id):
            self._documents.pop(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget a call that has failed."""
        if self._runs.end(run_id):
            self._documents.pop(run_id, None)

    def on_tool_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        input_str: str,  # noqa: ARG002
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Remember where the run belongs: tools retrieve too."""
        self._runs.begin(run_id, parent_run_id)

    def on_retriever_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        query: str,  # noqa: ARG002
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Note whether this one works for another retriever, whose choice counts then."""
        self._retrieving[run_id] = parent_run_id in self._retrieving

    def on_retriever_end(
        self,
        documents: Sequence[Document],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        """Keep what was retrieved."""
        if self._retrieving.pop(run_id, False):
            return
        if (root := self._runs.root(parent_run_id)) is not None:
            self._documents.setdefault(root, []).extend(documents)
        if self._told is not None:
            self._told(documents)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Forget a retrieval that failed."""
        self._retrieving.pop(run_id, None)


def documents_in(value: object, key: str) -> list[object]:
    """The documents under `key`, where `value` is a mapping that holds a list of them there."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        return []
    return [item for item in found if hasattr(item, "page_content")]
