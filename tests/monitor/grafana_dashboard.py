"""Builds the dashboard that is shipped; run as a program it writes the file anew."""

from __future__ import annotations

import json
from pathlib import Path

from grafana_foundation_sdk.builders.common import VizLegendOptions
from grafana_foundation_sdk.builders.dashboard import Dashboard, DatasourceVariable
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DataSourceRef

import streamverify.monitor

FILE = Path(streamverify.monitor.__file__).parent / "files" / "streamverify.grafana.json"
SOURCE = DataSourceRef(type_val="prometheus", uid="${source}")
_SENTENCES = "streamverify_sentences_total"
_LAG = "streamverify_verdict_lag_seconds_bucket"

PANELS = (
    (
        "Answers a minute",
        "short",
        ("sum by (outcome) (rate(streamverify_streams_total[5m])) * 60", "{{outcome}}"),
    ),
    ("Running now", "short", ("sum(streamverify_open_streams)", "streams")),
    (
        "Sentences by label",
        "percentunit",
        (
            f"sum by (label) (rate({_SENTENCES}[5m])) / scalar(sum(rate({_SENTENCES}[5m])) > 0)",
            "{{label}}",
        ),
    ),
    (
        "Faithfulness of the last hour, and what chance allows at most",
        "percentunit",
        ("streamverify:faithfulness:1h", "faithfulness"),
        ("streamverify:faithfulness_high:1h", "at most"),
    ),
    (
        "Grounding score of the last hour",
        "percentunit",
        ("streamverify:grounding:1h", "mean"),
        (
            "histogram_quantile(0.1, sum by (le) (increase(streamverify_answer_grounding_score_bucket[1h])))",
            "worst tenth",
        ),
    ),
    (
        "Streams that fail, last hour",
        "percentunit",
        ("streamverify:failed:1h", "failed"),
        ("streamverify:failed_low:1h", "at least"),
    ),
    (
        "Sentences nobody could check, by why",
        "short",
        ("sum by (reason) (rate(streamverify_scoring_failures_total[5m])) * 60", "{{reason}}"),
    ),
    (
        "What policies did",
        "short",
        ('sum by (action) (rate(streamverify_actions_total{action!="release"}[5m])) * 60', "{{action}}"),
    ),
    (
        "Citations that are not correct",
        "short",
        ('sum by (finding) (rate(streamverify_citations_total{finding!="correct"}[5m])) * 60', "{{finding}}"),
    ),
    (
        "Findings of checks",
        "short",
        ("sum by (kind) (rate(streamverify_findings_total[5m])) * 60", "{{kind}}"),
    ),
    (
        "Verdict after a sentence's close",
        "s",
        (f"histogram_quantile(0.5, sum by (le) (rate({_LAG}[5m])))", "median"),
        (f"histogram_quantile(0.95, sum by (le) (rate({_LAG}[5m])))", "95 %"),
    ),
    (
        "Passages encoded",
        "s",
        (
            "histogram_quantile(0.95, sum by (le) (rate(streamverify_preparation_seconds_bucket[5m])))",
            "95 %",
        ),
    ),
    ("Kept windows", "bytes", ("sum(streamverify_window_cache_bytes)", "memory")),
    (
        "Lost to observers and records",
        "short",
        ("sum(increase(streamverify_observer_dropped_total[5m]))", "observers"),
        ("sum(increase(streamverify_records_dropped_total[5m]))", "records"),
    ),
)
"""Title, unit, and what is asked under which name."""


def dashboard():
    made = (
        Dashboard("streamverify: answers")
        .uid("streamverify-answers")
        .tags(["streamverify"])
        .time("now-6h", "now")
        .refresh("1m")
        .readonly()
        .with_variable(DatasourceVariable("source").label("Prometheus").type("prometheus"))
    )
    for title, unit, *asked in PANELS:
        panel = Panel().title(title).unit(unit).datasource(SOURCE).min(0).height(8).span(12)
        panel = panel.legend(VizLegendOptions().show_legend(show_legend=True))
        for (expression, legend), letter in zip(asked, "AB", strict=False):
            query = Dataquery().expr(expression).legend_format(legend).ref_id(letter)
            panel = panel.with_target(query)
        made = made.with_panel(panel)
    return made.build()


if __name__ == "__main__":
    FILE.write_text(json.dumps(dashboard(), cls=JSONEncoder, indent=1, sort_keys=True) + "\n")
