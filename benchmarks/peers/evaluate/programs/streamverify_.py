from streamverify.evaluate import Judge, evaluate, read_dataset

judge = Judge(ADDRESS, "judge", api_key="none")
run = evaluate(read_dataset("answers.jsonl"), metrics=["judged_groundedness"], judge=judge)
print(run["judged_groundedness"], [(case.id, case.error) for case in run.errors])
