import json

from langchain_openai import ChatOpenAI
from ragas import EvaluationDataset, evaluate
from ragas.llms import LangchainLLMWrapper
from ragas.metrics import Faithfulness

rows = [json.loads(line) for line in open("answers.jsonl")]
dataset = EvaluationDataset.from_list(
    [
        {"user_input": r["question"], "response": r["answer"], "retrieved_contexts": r["passages"]}
        for r in rows
    ]
)
judge = LangchainLLMWrapper(ChatOpenAI(base_url=ADDRESS, api_key="none", model="judge"))
result = evaluate(dataset, metrics=[Faithfulness()], llm=judge, show_progress=False)
print(result.scores, result)
