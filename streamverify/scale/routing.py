"""Sends every request about the same windows to the same replica, as long as that one has room.

Loaded by Ray Serve in every process that asks, by the name that `serving.py` tells it.
"""

from __future__ import annotations

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

from streamverify.scale.wire import Premises, Question, ranked


class PremiseRouter(RequestRouter):  # type: ignore[misc] # Ray is not read by the type checker
    """A replica has encoded the windows it was asked about: only where it is busy another one is asked."""

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """The replicas one by one, in the order in which the request's windows prefer them."""
        asked = pending_request.args[0] if pending_request is not None and pending_request.args else None
        if not isinstance(asked, Premises | Question):
            return [candidate_replicas]
        order = ranked(asked.key, [replica.replica_id.unique_id for replica in candidate_replicas])
        return [[candidate_replicas[place]] for place in order]
