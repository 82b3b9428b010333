"""The records as a graph: nodes and edges read off SQL, and replayed into a graph database.

    with Database("answers.db") as database, EmbeddedGraph("answers.graph") as graph:
        replay(database, graph)
        GraphQuestions(graph).cited()

Before: the tables, and `Reader`. After: Ladybug in a file, Neo4j, NetworkX, by extras of their own.
"""

from streamverify.records.graph.cypher import GraphQuestions
from streamverify.records.graph.embedded import EmbeddedGraph
from streamverify.records.graph.kinds import Graph
from streamverify.records.graph.neo4j import Neo4jGraph
from streamverify.records.graph.networkx import to_networkx
from streamverify.records.graph.replay import Replayed, replay

__all__ = ["EmbeddedGraph", "Graph", "GraphQuestions", "Neo4jGraph", "Replayed", "replay", "to_networkx"]
