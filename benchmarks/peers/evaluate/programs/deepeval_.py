import json

from deepeval import evaluate
from deepeval.metrics import FaithfulnessMetric
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase

rows = [json.loads(line) for line in open("answers.jsonl")]
cases = [
    LLMTestCase(name=r["id"], input=r["question"], actual_output=r["answer"], retrieval_context=r["passages"])
    for r in rows
]
judge = LocalModel(model="judge", api_key="none", base_url=ADDRESS)
result = evaluate(cases, [FaithfulnessMetric(model=judge)])
scores = [test.metrics_data[0].score for test in result.test_results]
print(scores, sum(scores) / len(scores))
