"""Recorded answers, measured with the engine that checks live ones.

    from streamverify.evaluate import evaluate, read_dataset

    run = evaluate(read_dataset("answers.jsonl"))
    print(run["faithfulness"])
    run.write("run.json")

    dataset.py ► runner.py ► journal.py ► run.py ► gates.py, compare.py

Importing this package loads nothing of it; a name is loaded with its module when it is first used.
"""

from typing import TYPE_CHECKING

from streamverify._lazy import lazy_names

if TYPE_CHECKING:
    from streamverify.evaluate.case import Case, Recording
    from streamverify.evaluate.comparison import Comparison, Difference, compare
    from streamverify.evaluate.dataset import Dataset, from_events, read_dataset
    from streamverify.evaluate.embedder import WordEmbedder
    from streamverify.evaluate.fitting import Fitted, calibrate
    from streamverify.evaluate.gates import BaselineRules, Gate, GateResult, Gates, decide, read_gates
    from streamverify.evaluate.judge.client import Judge, Usage
    from streamverify.evaluate.metrics import CATALOGUE
    from streamverify.evaluate.protocol import Embedder, Measured, Metric, Need, Tools, metric
    from streamverify.evaluate.redacting import redacted_run
    from streamverify.evaluate.result import CaseResult
    from streamverify.evaluate.run import Run
    from streamverify.evaluate.runner import Plan, evaluate, evaluate_async, plan
    from streamverify.evaluate.settings import read_settings
    from streamverify.evaluate.thresholds import LabelledScore, Threshold
    from streamverify.figure import Aggregate, Figure, Interval, NotComputed

__all__ = [
    "CATALOGUE",
    "Aggregate",
    "BaselineRules",
    "Case",
    "CaseResult",
    "Comparison",
    "Dataset",
    "Difference",
    "Embedder",
    "Figure",
    "Fitted",
    "Gate",
    "GateResult",
    "Gates",
    "Interval",
    "Judge",
    "LabelledScore",
    "Measured",
    "Metric",
    "Need",
    "NotComputed",
    "Plan",
    "Recording",
    "Run",
    "Threshold",
    "Tools",
    "Usage",
    "WordEmbedder",
    "calibrate",
    "compare",
    "decide",
    "evaluate",
    "evaluate_async",
    "from_events",
    "metric",
    "plan",
    "read_dataset",
    "read_gates",
    "read_settings",
    "redacted_run",
]

_HOMES = {
    "evaluate.case": "Case Recording",
    "evaluate.comparison": "Comparison Difference compare",
    "evaluate.dataset": "Dataset from_events read_dataset",
    "evaluate.fitting": "Fitted calibrate",
    "evaluate.embedder": "WordEmbedder",
    "evaluate.gates": "BaselineRules Gate GateResult Gates decide read_gates",
    "evaluate.judge.client": "Judge Usage",
    "evaluate.protocol": "Embedder Measured Metric Need Tools metric",
    "evaluate.metrics": "CATALOGUE",
    "evaluate.redacting": "redacted_run",
    "evaluate.result": "CaseResult",
    "evaluate.run": "Run",
    "evaluate.runner": "Plan evaluate evaluate_async plan",
    "evaluate.settings": "read_settings",
    "evaluate.thresholds": "LabelledScore Threshold",
    "figure": "Aggregate Figure Interval NotComputed",
}
"""Module to the public names that live in it."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
