"""The whole recipe in small: data, a few steps, resuming, export, parity, calibration, card."""

import functools
import gzip
import json
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from training import calibrate, card, export
from training.architecture import Block, PremiseCachedEncoder
from training.batches import VIEWS, GroupSampler, build_batch, context_windows, pack_claims, window_rows
from training.data import ENTAIL, NOT_ENTAIL, load_set, read_rows
from training.full_attention import FullAttentionEncoder
from training.losses import order_loss, sentence_loss
from training.metrics import auroc
from training.parallel import MEET_EVERY, run_crew
from training.restore import restore
from training.synthetic import claims
from training.train import Plan, train, train_in_crew
from training.windows import clean_claim, load_tokenizer, pack_windows, token_marks

WORDS = "the tower bridge ferry museum opened closed in near 1874 1901 1950 harbour it is was not".split()


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    names = ["[PAD]", "[UNK]", *(f"[unused{i}]" for i in range(99)), "[CLS]", "[SEP]", *WORDS, ".", ",", ":"]
    tokenizer = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokenizer.save(str(path))
    assert tokenizer.token_to_id("[CLS]") == 101
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Contexts of three sentences, each with a true and a false claim."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(3)

    def rows(count):
        for i in range(count):
            thing, year = (
                rng.choice(["tower", "bridge", "ferry", "museum"]),
                rng.choice(["1874", "1901", "1950"]),
            )
            premise = (
                f"The {thing} is near the harbour. The {thing} opened in {year}. The museum closed in 1950."
            )
            claim = f"The {thing} opened in {year}."
            false = f"The {thing} closed in {year}."
            yield {"source": f"s{i % 3}", "premise": premise, "claim": claim, "label": "entail", "spans": []}
            start = false.index("closed")
            spans = [[start, start + 6]]
            yield {
                "source": f"s{i % 3}",
                "premise": premise,
                "claim": false,
                "label": "contradict",
                "spans": spans,
            }

    for part, name, count in (("train", "hand", 24), ("train", "pairs", 40), ("dev", "handwritten_dev", 8)):
        (folder / part).mkdir(exist_ok=True)
        with gzip.open(folder / part / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows(count))
    (folder / "golden").mkdir()
    cases = []
    for i in range(9):
        sentences = [
            {"text": "The tower opened in 1874 [1].", "label": "supported", "unsupported_spans": []},
            {
                "text": "The tower is not near the harbour.",
                "label": "contradicted",
                "unsupported_spans": ["not"],
            },
            {"text": "In short:", "label": "no_claim", "unsupported_spans": []},
        ]
        passages = [
            {"id": "p1", "title": "Tower", "text": "The tower opened in 1874. It is near the harbour."},
            {"id": "p2", "title": "Ferry", "text": "The ferry was closed in 1950."},
        ]
        cases.append(json.dumps({"id": f"c{i}", "passages": passages, "sentences": sentences}))
    (folder / "golden" / "golden.jsonl").write_text("\n".join(cases) + "\n")
    mixture = '[share]\nhand = 0.6\npairs = 0.4\n[sets.hand]\nhand = { weight = 1.0, licence = "own" }\n'
    mixture += '[sets.pairs]\npairs = { weight = 0.5, licence = "none stated" }\n'
    mixture += 'left_out = { weight = 0.0, licence = "none stated" }\n'  # there is no such file
    (folder / "mixture.toml").write_text(mixture)
    return folder


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("start") / "start.safetensors"
    save_file(PremiseCachedEncoder().state_dict(), path)
    return path


def plan(run, data, start, tokenizer_file, budget, workers=1):
    return Plan(
        run=run,
        data=data,
        mixture=data / "mixture.toml",
        tokenizer=tokenizer_file,
        weights=start,
        budget=budget,
        decay=1000,
        rate=1e-4,
        dropout=0.0,
        parts=2,
        evaluate_every=10**9,
        checkpoint_seconds=1e9,
        threads=2,
        workers=workers,
        seed=1,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory, data, start, tokenizer_file):
    run = tmp_path_factory.mktemp("run")
    train(plan(run, data, start, tokenizer_file, 3000))
    return run


def test_a_run_leaves_weights_figures_and_a_manifest(finished):
    log = [json.loads(line) for line in (finished / "log.jsonl").read_text().splitlines()]
    assert {"golden", "handwritten_dev"} == set(log[-1]["development"])
    manifest = json.loads((finished / "manifest.json").read_text())
    assert {e["set"]: e["licence"] for e in manifest} == {"hand": "own", "pairs": "none stated"}
    assert load_file(finished / "best.safetensors").keys() == PremiseCachedEncoder().state_dict().keys()


def test_a_run_goes_on_where_it_stopped(finished, data, start, tokenizer_file):
    before = torch.load(finished / "state.pt", weights_only=True)["progress"]
    run = train(plan(finished, data, start, tokenizer_file, 10**9))
    assert before["step"] <= run.progress.step <= before["step"] + MEET_EVERY
    assert run.progress.resumed == 1


def show_weights(folder, crew):
    weights = [torch.full((2, 3), float(crew.rank)), torch.tensor([10.0 * crew.rank])]
    crew.average(weights)
    found = [crew.total(crew.rank + 1), crew.told(7 + crew.rank), *(float(w.max()) for w in weights)]
    (folder / f"{crew.rank}.json").write_text(json.dumps(found))


def fail_in_the_second(crew):
    if crew.rank == 1:
        raise ValueError("told to")
    crew.total(1)  # waits for the other for ever


def test_processes_share_the_mean_the_sum_and_what_the_first_says(tmp_path):
    run_crew(functools.partial(show_weights, tmp_path), 2, tmp_path)
    assert [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)] == [[3, 7, 0.5, 5.0]] * 2


def test_one_process_that_fails_ends_the_run(tmp_path):
    with pytest.raises(RuntimeError, match="ended with code 1"):
        run_crew(fail_in_the_second, 2, tmp_path)


def test_two_processes_train_one_model(tmp_path, data, start, tokenizer_file):
    told = plan(tmp_path, data, start, tokenizer_file, 3000, workers=2)
    run_crew(functools.partial(train_in_crew, told), 2, tmp_path)
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert log[-1]["tokens"] >= 3000
    assert len((tmp_path / "pid").read_text().split()) == 2
    assert (tmp_path / "ema.safetensors").exists()


@pytest.fixture(scope="module")
def released(tmp_path_factory, finished, tokenizer_file):
    folder = tmp_path_factory.mktemp("release")
    tokenizer = load_tokenizer(tokenizer_file)
    return folder, export.release(finished / "ema.safetensors", tokenizer_file, tokenizer, folder)


def test_export_computes_what_the_network_computes(released):
    _, figures = released
    assert figures["float32_parity"] < 1e-4
    assert figures["int8_difference"] < 0.5
    assert figures["int8_megabytes"] < 25


def test_a_release_can_be_trained_on_from(released, finished):
    folder, _ = released
    weights = load_file(finished / "ema.safetensors")
    found = restore(onnx.load(folder / "model.int8.onnx"), {"word.weight": weights["word.weight"]})
    assert found.keys() == weights.keys()
    for name, value in found.items():
        step = weights[name].abs().max() / 127
        assert float((value - weights[name]).abs().max()) <= step, name
    assert torch.equal(found["word.weight"], weights["word.weight"])


def test_a_release_has_calibration_card_and_checksums(released, finished, data, tmp_path, monkeypatch):
    folder, _ = released
    monkeypatch.setattr("sys.argv", ["calibrate", str(folder), "--data", str(data)])
    calibrate.main()
    figures, limits = tmp_path / "figures.jsonl", tmp_path / "limits.md"
    figures.write_text('{"set": "golden", "claims": 18.0, "auroc_joint": 0.5}\n')
    limits.write_text("* Trained on toys.\n")
    arguments = ["--run", str(finished), "--tokens", "4000", "--version", "t"]
    arguments += ["--figures", str(figures), "--limits", str(limits)]
    monkeypatch.setattr("sys.argv", ["card", str(folder), *arguments])
    card.main()
    assert "Sets whose source states no licence: pairs." in (folder / "README.md").read_text()
    fused = tmp_path / "fused.json"
    row = {"auroc": 0.75, "balanced_accuracy": 0.7, "missed_per_100": 20, "calibration_error": 0.05}
    fused.write_text(json.dumps({"all of these": row}))
    monkeypatch.setattr("sys.argv", ["card", str(folder), *arguments, "--fused", str(fused)])
    card.main()
    assert "| all of these | 0.750 | 0.700 | 20.0 | 0.050 |" in (folder / "README.md").read_text()
    listed = {line.split("  ")[1] for line in (folder / "sha256sums").read_text().splitlines()}
    assert listed | {"sha256sums"} == {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("form", [PremiseCachedEncoder, FullAttentionEncoder])
def test_a_packed_claim_scores_as_it_does_alone(form):
    torch.manual_seed(1)
    model = form().eval()
    rng = np.random.default_rng(0)
    windows = [rng.integers(110, 120, n).astype(np.uint16) for n in (9, 30, 17)]
    claims = [rng.integers(110, 120, n).astype(np.uint16) for n in (5, 12, 7)]
    shown = [(0, 2), (1,), (0, 1, 2)]
    blocks = [Block(range(i, i + 1), seen) for i, seen in enumerate(shown)]
    with torch.inference_mode():
        packed, marks = model(pack_claims(*window_rows(windows), claims, blocks))
        start = 0
        for i, seen in enumerate(shown):
            own = [windows[w] for w in seen]
            alone, own_marks = model(
                pack_claims(
                    *window_rows(own, step=64), [claims[i]], [Block(range(1), range(len(own)))], step=32
                )
            )
            assert torch.allclose(alone[0], packed[i], atol=1e-5)
            assert torch.allclose(
                own_marks[: len(claims[i])], marks[start : start + len(claims[i])], atol=1e-5
            )
            start += len(claims[i])


def test_the_two_forms_differ_only_where_windows_are_read():
    torch.manual_seed(1)
    cached, full = PremiseCachedEncoder().eval(), FullAttentionEncoder().eval()
    full.load_state_dict(cached.state_dict())
    rows = window_rows([np.arange(110, 118, dtype=np.uint16)])
    claims = [np.array([101, 111, 112, 102], np.uint16)] * 2
    packed = pack_claims(*rows, claims, [Block(range(1), []), Block(range(1, 2), [0])])
    with torch.inference_mode():
        ours, theirs = cached(packed)[0], full(packed)[0]
    assert torch.allclose(ours[0], theirs[0], atol=1e-5)
    assert not torch.allclose(ours[1], theirs[1], atol=1e-4)


@pytest.mark.parametrize("form", [PremiseCachedEncoder, FullAttentionEncoder])
def test_claims_of_one_block_see_only_their_own_windows(form):
    torch.manual_seed(1)
    model = form().eval()
    windows = [np.full(6, 110, np.uint16), np.full(6, 115, np.uint16)]
    claim = np.array([101, 111, 102], np.uint16)
    shared = [Block(range(2), range(2), torch.eye(2, dtype=torch.bool))]
    apart = [Block(range(1), [0]), Block(range(1, 2), [1])]
    rows = window_rows(windows)
    with torch.inference_mode():
        assert torch.allclose(
            model(pack_claims(*rows, [claim] * 2, shared))[0],
            model(pack_claims(*rows, [claim] * 2, apart))[0],
            atol=1e-5,
        )


def test_gradients_of_the_attention_are_those_of_the_built_in_one():
    from training.attention import attend

    torch.manual_seed(0)
    inputs = [torch.randn(2, 3, n, 8, dtype=torch.double, requires_grad=True) for n in (4, 6, 6)]
    bias = torch.zeros(4, 6, dtype=torch.double).masked_fill_(torch.rand(4, 6) < 0.3, -1e4)
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, bias), inputs)


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
