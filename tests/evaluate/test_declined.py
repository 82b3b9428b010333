"""What declines to answer, in the words that answers use, and statements that are worded alike."""

from __future__ import annotations

import pytest
from builders import verifier

from streamverify.evaluate import CATALOGUE, Case, evaluate
from streamverify.evaluate.metrics.refusals import refuses

PASSAGES = ["The mill was built in 1712. Parking is behind the mill."]
REFUSALS = """
I don't have real-time stock prices.
I do not have the weather forecast for tomorrow.
We don't have any pricing in the passages.
There isn't enough information to answer this question.
The context provided does not contain the answer.
The answer cannot be determined from the passages.
None of the sources mention parking.
Sorry, this is not something I can answer.
I'm not sure.
Nothing in the passages says where to park.
The documents are silent on parking.
That information isn't in the provided documents.
It is not possible to answer from the given documents.
My training data only goes up to 2023.
I cannot answer this question.
I don't know.
I do not know where to park.
Unfortunately, I can't help with that.
I'm sorry, but I can't answer that based on the provided context.
The passages do not say.
The provided context doesn't mention parking.
I have no information about parking.
There is no information about parking in the documents.
No information on parking is available.
As an AI, I cannot say.
My knowledge cut-off is 2023.
I was unable to find anything about parking.
The answer is not stated in the text.
Parking is not mentioned in the documents.
I couldn't find any information about that.
We don't have any information on parking.
I don't have access to that information.
I don't have enough information to answer.
It is unclear from the passages where to park.
The information provided is insufficient to answer.
Insufficient information.
Not enough information.
Not mentioned in the documents.
No answer can be given from these sources.
I'm unable to answer that.
I am not able to provide this information.
The passages do not provide enough information to answer the question.
I can only answer questions about the museum.
That is outside the scope of the documents.
I'm afraid I don't know.
I must decline to answer.
I won't answer that.
I can't say for sure.
Your documents don't cover this.
The question cannot be answered with the given context.
Unknown.
N/A
I do not have that information.
We do not have information about this.
We cannot answer this from the handbook.
This cannot be answered.
I have no idea.
Based on the provided documents, I cannot determine the opening hours.
""".strip().splitlines()
ANSWERS = """
We do not have a dress code.
We don't have a parking lot.
We cannot ship to Alaska.
We are unable to refund opened goods.
The policy does not cover dental care.
The contract does not provide for early termination.
The lease does not include parking.
Parking is not available in the courtyard.
Pets are not permitted in the rooms.
The key was not found in the drawer.
It is not possible to park here.
Nothing in the lease forbids pets.
The mill is silent on Sundays.
The hotel cannot be reached by car.
None of the rooms have a bath.
There isn't enough space for two cars.
The training data has 4 million sentences.
I'm not sure is the title of a song by Foo.
The warranty does not cover water damage.
The service is not provided by the city.
You cannot answer the phone during the exam.
The source of the river is not known.
We do not know of any side effects in children.
The mill was built in 1712.
The museum is closed on Monday.
Costs are not covered by the plan.
The fee is not included in the price.
No, the shop does not sell bread.
The model's training cut-off is June 2024.
There is no information desk on the second floor.
We can't accept cash.
We do not have to pay for this.
The documents must be signed by both parties.
No information on health may be passed on to the employer.
Employees may not answer questions of the press.
I'm not sure, but I think the mill was built in 1712.
""".strip().splitlines()


@pytest.fixture(scope="module")
def scripted():
    with verifier() as made:
        yield made


@pytest.mark.parametrize("text", REFUSALS)
def test_an_ordinary_refusal_is_one_with_passages_and_without(text, scripted):
    assert refuses(scripted.check_sync(text, PASSAGES))
    assert refuses(scripted.check_sync(text, ()))


@pytest.mark.parametrize("text", ANSWERS)
def test_a_statement_that_is_worded_like_a_refusal_is_an_answer(text, scripted):
    assert not refuses(scripted.check_sync(text, PASSAGES))
    assert not refuses(scripted.check_sync(text, ()))


@pytest.mark.parametrize(
    ("text", "declined"),
    [
        ("I am sorry. The passages do not say where to park. Please ask the owner.", True),
        ("The passages do not say who built it. It was built in 1712.", False),
        ("The passages do not mention the moon, but the mill was built in 1712.", False),
    ],
)
def test_what_is_told_beside_a_refusal_is_an_answer(text, declined, scripted):
    assert refuses(scripted.check_sync(text, PASSAGES)) is declined


def test_the_figure_is_of_another_version_than_the_one_before():
    one = Case(id="a", answer=REFUSALS[0], passages=(), expected="refuse")
    with verifier() as made:
        run = evaluate([one], metrics=["rejection_calibration"], verifier=made)
    assert run["rejection_calibration"].figure == 1.0
    assert CATALOGUE["rejection_calibration"].version == "2"
