"""The graph as NetworkX has it, for whatever that library can do with one.

Before: `Reader.graph`. After: the package `networkx`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamverify._extras import require
from streamverify.records.graph.kinds import Graph

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(graph: Graph) -> nx.MultiDiGraph[str]:
    """The same nodes and edges.

    Args:
        graph: as `Reader.graph` gives it: what its requester may see.

    Returns:
        Nodes by their ids; nodes and edges each say their `kind`, and have its properties.

    Raises:
        MissingExtraError: the package is not installed. Caller.
    """
    require("networkx", extra="graph", feature="to_networkx")
    import networkx as nx  # noqa: PLC0415 - an extra

    made: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for label, nodes in graph.nodes.items():
        for node in nodes:
            made.add_node(node["id"], kind=label, **{k: v for k, v in node.items() if k != "id"})
    for name, edges in graph.edges.items():
        for edge in edges:
            told = {key: value for key, value in edge.items() if key not in ("source", "target")}
            made.add_edge(edge["source"], edge["target"], kind=name, **told)
    return made
