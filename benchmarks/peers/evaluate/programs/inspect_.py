import json

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver


@solver
def recorded():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("recorded", state.metadata["recorded"])
        return state

    return solve


rows = [json.loads(line) for line in open("answers.jsonl")]
samples = [
    Sample(
        id=r["id"], input=r["question"], target="\n".join(r["passages"]), metadata={"recorded": r["answer"]}
    )
    for r in rows
]
judge = get_model("openai-api/local/judge", base_url=ADDRESS, api_key="none")
task = Task(dataset=samples, solver=recorded(), scorer=model_graded_qa(model=judge))
(log,) = eval(task, model=judge, display="none")
print(log.status, log.error, log.results)
