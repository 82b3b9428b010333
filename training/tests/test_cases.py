"""Cases on their way into a batch: read, cleaned, marked, packed, weighed."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from training import export
from training.batches import VIEWS, GroupSampler, build_batch, context_windows
from training.data import ENTAIL, NOT_ENTAIL, load_set, read_rows
from training.jsonl import json_lines
from training.losses import order_loss, sentence_loss
from training.metrics import auroc
from training.passages import with_texts
from training.synthetic import claims
from training.windows import clean_claim, load_tokenizer, pack_windows, token_marks


def test_a_supported_claim_with_wrong_passages_only_is_not_entailed(data, tokenizer_file):
    contexts = load_set(data / "train" / "hand.jsonl.gz", load_tokenizer(tokenizer_file))
    batch = next(iter(GroupSampler("hand", [(1.0, contexts)], 0)))
    assert {ENTAIL, 2, NOT_ENTAIL} == set(batch.labels.tolist())
    again = build_batch(contexts[:3], VIEWS["hand"], np.random.default_rng(5))
    same = build_batch(contexts[:3], VIEWS["hand"], np.random.default_rng(5))
    assert again.labels.tolist() == same.labels.tolist()


def test_the_order_of_claims_counts_only_among_those_shown_the_same():
    labels, shown = torch.tensor([0, 1, 3, 0]), torch.tensor([0, 0, 1, 1])
    right = torch.tensor([[9.0, 0, 0], [0, 9, 0], [0, 9, 0], [9, 0, 0]])
    assert order_loss(right, labels, shown) < 0.01 < 1 < order_loss(-right, labels, shown)
    common = right + torch.tensor([5.0, 0, 0])
    assert torch.allclose(order_loss(right, labels, shown), order_loss(common, labels, shown))
    assert order_loss(right, labels, torch.arange(4)) is None
    assert order_loss(right, labels, torch.tensor([-1, -1, -1, -1])) is None


def test_not_entailed_shares_probability_between_neutral_and_contradiction():
    logits = torch.tensor([[0.0, 2.0, 1.0]])
    p = torch.softmax(logits, -1)[0]
    assert torch.allclose(sentence_loss(logits, torch.tensor([NOT_ENTAIL])), -torch.log(p[1] + p[2])[None])
    assert torch.allclose(sentence_loss(logits, torch.tensor([1])), -torch.log(p[1])[None])


def test_windows_hold_every_token_and_whole_sentences_where_they_fit():
    parts = [np.arange(n, dtype=np.uint16) for n in (10, 20, 75, 5)]
    windows = pack_windows(parts, 32)
    assert [len(w) for w in windows] == [30, 32, 32, 16]
    assert np.concatenate(parts).tolist() == np.concatenate(windows).tolist()


CASE = {
    "id": "one",
    "domain": "transport",
    "question": "When did it open?",
    "passages": [
        {"title": "the bridge", "text": "it opened in 1901."},
        {"title": "the ferry", "text": "it closed in 1950."},
    ],
    "claims": [
        {"claim": "the bridge opened in 1901.", "label": "entail", "kind": "date", "spans": []},
        {
            "claim": "the bridge opened in 1950.",
            "label": "contradict",
            "kind": "date_error",
            "spans": ["1950"],
        },
    ],
}


def test_a_case_is_read_with_its_titles_and_spans(tmp_path, tokenizer_file):
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE) + "\n")
    tokenizer = load_tokenizer(tokenizer_file)
    (context,) = load_set(path, tokenizer)
    names = [tokenizer.decode(list(title)) for title in context.titles]
    assert names == ["the bridge :", "the ferry :"]
    right, wrong = context.claims
    assert not right.marks.any()
    assert [tokenizer.id_to_token(i) for i in wrong.ids[wrong.marks]] == ["1950"]
    titled, bare = context_windows(context, 60), context_windows(context, 60, titled=False)
    assert [len(a) - len(b) for a, b in zip(titled, bare, strict=True)] == [3, 3]


def test_a_case_that_names_its_passages_gets_their_texts_and_has_no_titles(tmp_path, tokenizer_file):
    named = CASE | {"passages": [{"id": "wiki-1"}, {"id": "wiki-2"}]}
    texts = {"wiki-1": "it opened in 1901.", "wiki-2": "it closed in 1950.", "wiki-3": "it is red."}
    (case,) = with_texts([named], texts)
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(named) + "\n")
    with pytest.raises(ValueError, match=r"case one only names its passages: `training\.passages`"):
        load_set(path, load_tokenizer(tokenizer_file))
    path.write_text(json.dumps(case) + "\n")
    (context,) = load_set(path, load_tokenizer(tokenizer_file))
    assert len(context.passages) == 2
    assert context.titles == ()
    with pytest.raises(ValueError, match="case one: no file of passages holds 'wiki-2'"):
        list(with_texts([named], {"wiki-1": "it opened in 1901."}))


def test_a_span_that_is_not_in_its_claim_names_the_case(tmp_path, tokenizer_file):
    wrong = CASE["claims"][1] | {"spans": ["1874"]}
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE | {"claims": [wrong]}) + "\n")
    with pytest.raises(ValueError, match="case one: '1874' is not in the claim"):
        load_set(path, load_tokenizer(tokenizer_file))


@pytest.mark.parametrize("name", ["details", "contrasts", "replies"])
def test_the_recipes_own_cases_can_be_read_and_do_not_overlap(name):
    folder = Path(export.__file__).with_name("sets")
    train, held_out = (list(read_rows(folder / f"{n}.jsonl.gz")) for n in (name, f"{name}_dev"))
    assert len(train) > 5 * len(held_out) > 0
    assert not {row["premise"] for row in train} & {row["premise"] for row in held_out}
    for rows in (train, held_out):
        assert 0.45 < sum(row["label"] == "entail" for row in rows) / len(rows) < 0.55
        assert all((row["label"] == "entail") == (not row["spans"]) for row in rows)


def test_cases_about_public_passages_hold_none_of_their_text_and_are_held_out_by_passage():
    folder = Path(export.__file__).with_name("sets")
    sets = [list(json_lines(path)) for path in sorted(folder.glob("public*.jsonl.gz"))]
    assert len(sets) == 8
    named = [passage for cases in sets for passage in {p["id"] for case in cases for p in case["passages"]}]
    assert len(named) == len(set(named))
    for cases in sets:
        assert all(set(passage) == {"id"} for case in cases for passage in case["passages"])
        claims = [claim for case in cases for claim in case["claims"]]
        assert 0.45 < sum(claim["label"] == "entail" for claim in claims) / len(claims) < 0.65
        assert all((claim["label"] == "entail") == (not claim["spans"]) for claim in claims)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("The fee is **40** crowns [1].", "The fee is 40 crowns."),
        ("- Rates rose (Annual Review, 2021).", "Rates rose."),
        ("Use `pip`[^2]", "Use pip"),
        ("In [1950] it closed.", "In [1950] it closed."),
    ],
)
def test_markers_and_markup_are_not_part_of_a_claim(raw, text):
    assert text == clean_claim(raw).text


def test_spans_are_followed_through_cleaning():
    raw = "It is **not** far [1]."
    clean = clean_claim(raw)
    offsets = [(0, 0), (0, 2), (3, 5), (6, 9), (10, 13), (13, 14)]
    span = [raw.index("not"), raw.index("not") + 3]
    assert token_marks(offsets, clean, [span]).tolist() == [False, False, False, True, False, False]


def test_auroc_counts_ties_half():
    assert auroc(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, True, False, True])) == pytest.approx(0.875)


def test_rules_mark_what_they_break_and_leave_the_rest():
    text = (
        "The Carrow Bridge was opened in 1874 by Anna Holm. It crosses the River Tarn. The old ferry between "
        "Carrow and Tarnmouth stopped running after the bridge had been completed. In 1901, the council of "
        "Tarnmouth raised the toll from 2 to 5 pence for each cart. Some of the drivers refused to pay and "
        "the toll was withdrawn. Repairs in 1950 cost 12,400 crowns and took about three months."
    )
    made = [row for seed in range(40) for row in claims(text, tuple("ABCDEFGHIJ"), Random(seed))]
    assert {"rephrased", "number", "name", "opposite", "held out", "appended"} <= {
        row["kind"] for row in made
    }
    for row in made:
        assert bool(row["spans"]) == (row["label"] != "entail")
        assert all(0 <= a < b <= len(row["claim"]) for a, b in row["spans"])
        if row["kind"] == "number":
            (start, end) = row["spans"][0]
            assert row["claim"][start:end] not in row["premise"] or row["claim"] not in row["premise"]
