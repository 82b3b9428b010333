from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from streamverify.errors import (
    ModelChecksumError,
    ModelContractError,
    ModelNotFoundError,
    ScoringError,
    UsageError,
)
from streamverify.passages import cut
from streamverify.scorers.cross_encoder import CrossEncoderScorer
from streamverify.scorers.protocol import Abort, Claim, Scorer, Window
from streamverify.types import Passage

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "yes", "no", "maybe", "filler"]
NLI = ("entailment", "neutral", "contradiction")
# What each word adds to the logits of entailment, neutral and contradiction.
LOGITS = {"yes": (3, 0, 0), "no": (0, 0, 3), "maybe": (0, 3, 0)}


def softmax(logits):
    powers = [math.exp(logit) for logit in logits]
    return [power / sum(powers) for power in powers]


def folder_with(
    folder,
    *,
    order=(0, 1, 2),
    labels=NLI,
    token_types=False,
    kind=TensorProto.INT64,
    graph="model.onnx",
    output="logits",
    config=None,
    model_max_length=24,
):
    """A classifier that adds up what its words say: an embedding of one row a word, summed over the pair."""
    table = np.zeros((len(WORDS), 3), np.float32)
    for word, logits in LOGITS.items():
        table[WORDS.index(word)] = logits
    table = table[:, list(order)]
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if token_types else [])]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axis"], ["words"], keepdims=0),
        # Every input takes part, or the runtime would drop it.
        *(helper.make_node("ReduceSum", [name], [f"{name}_sum"], keepdims=0) for name in names[1:]),
        *(
            helper.make_node("Cast", [f"{name}_sum"], [f"{name}_float"], to=TensorProto.FLOAT)
            for name in names[1:]
        ),
        *(helper.make_node("Mul", [f"{name}_float", "zero"], [f"{name}_nothing"]) for name in names[1:]),
        helper.make_node("Sum", ["words", *(f"{name}_nothing" for name in names[1:])], [output]),
    ]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([1], np.int64), "axis"),
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
    ]
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "sum",
            [helper.make_tensor_value_info(name, kind, ["batch", "tokens"]) for name in names],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", table.shape[1]])],
            constants,
        ),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    model.ir_version = 9
    (folder / graph).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / graph)
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_padding(length=40)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"id2label": {str(number): label for number, label in enumerate(labels)}} if labels else {}
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **named, **(config or {})}))
    if model_max_length is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": model_max_length}))
    return folder


def scorer_for(folder, **options):
    return CrossEncoderScorer(folder, **{"claim_tokens": 6, **options})


def score(scorer, premises, claim):
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(premises)]
    asked = claim if isinstance(claim, Claim) else Claim(claim)
    return scorer.score(scorer.prepare(windows, abort=Abort()), [asked], abort=Abort())[0]


def three(nli):
    return [nli.entailment, nli.neutral, nli.contradiction]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_three_classes_are_read_in_whatever_order_the_config_names_them(tmp_path, order):
    scorer = scorer_for(folder_with(tmp_path, order=order, labels=[NLI[role].upper() for role in order]))
    assert isinstance(scorer, Scorer)
    assert scorer.traits.contradiction
    for word, logits in LOGITS.items():
        (got,) = score(scorer, [f"{word} filler"], "filler").single
        assert three(got.score) == pytest.approx(softmax(logits))


@pytest.mark.parametrize(
    "labels", [("consistent", "inconsistent"), ("Entailment", "not-entailment"), ("1", "0")]
)
def test_two_classes_leave_contradiction_out(tmp_path, labels):
    scorer = scorer_for(folder_with(tmp_path, order=(0, 1), labels=labels))
    assert not scorer.traits.contradiction
    (got,) = score(scorer, ["yes"], "filler").single
    entailed, rest = softmax((3, 0))
    assert three(got.score) == pytest.approx([entailed, rest, 0])


@pytest.mark.parametrize(("label", "sign"), [("supported", 1), ("hallucinated", -1)])
def test_a_single_logit_is_read_through_a_sigmoid(tmp_path, label, sign):
    scorer = scorer_for(folder_with(tmp_path, order=(0,), labels=[label]))
    (got,) = score(scorer, ["yes"], "filler").single
    assert got.score.entailment == pytest.approx(1 / (1 + math.exp(-3 * sign)))
    assert sum(three(got.score)) == pytest.approx(1)


def test_names_that_say_nothing_are_an_error_that_asks_for_labels(tmp_path):
    folder = folder_with(tmp_path, labels=["LABEL_0", "LABEL_1", "LABEL_2"])
    with pytest.raises(ModelContractError, match=r"LABEL_0.*labels="):
        scorer_for(folder)
    (got,) = score(scorer_for(folder, labels=NLI), ["no"], "filler").single
    assert three(got.score) == pytest.approx(softmax(LOGITS["no"]))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (None, "id2label"),
        (("entailment", "entailed", "neutral"), "judgement"),
        (("neutral", "contradiction"), "judgement"),
    ],
)
def test_classes_that_make_up_no_judgement_are_an_error(tmp_path, labels, said):
    with pytest.raises(ModelContractError, match=said):
        scorer_for(folder_with(tmp_path, labels=labels))


def test_label2id_will_do(tmp_path):
    folder = folder_with(
        tmp_path, labels=None, config={"label2id": {"neutral": 1, "contradiction": 2, "entailment": 0}}
    )
    (got,) = score(scorer_for(folder), ["yes"], "filler").single
    assert three(got.score) == pytest.approx(softmax(LOGITS["yes"]))


def test_labels_and_outputs_must_be_as_many(tmp_path):
    with pytest.raises(ModelContractError, match="3 outputs, but 2 labels"):
        scorer_for(folder_with(tmp_path, labels=("entailment", "not_entailment")))


@pytest.mark.parametrize("token_types", [False, True])
@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_inputs_are_those_the_graph_has(tmp_path, token_types, kind):
    scorer = scorer_for(folder_with(tmp_path, token_types=token_types, kind=kind))
    assert score(scorer, ["yes"], "filler").single[0].score.entailment > 0.8


@pytest.mark.parametrize("graph", ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx"])
def test_the_graph_is_found_where_the_hub_keeps_it(tmp_path, graph):
    folder = folder_with(tmp_path, graph=graph)
    fingerprint = scorer_for(folder).fingerprint
    sha256 = hashlib.sha256((folder / graph).read_bytes()).hexdigest()
    assert fingerprint.model == tmp_path.name
    assert fingerprint.revision == sha256[:12]
    assert fingerprint.precision == graph.rpartition("/")[2].removesuffix(".onnx")
    assert scorer_for(folder, sha256=sha256.upper()).fingerprint == fingerprint
    with pytest.raises(ModelChecksumError):
        scorer_for(folder, sha256="0" * 64)


def test_an_output_of_another_name_will_do_where_there_is_one(tmp_path):
    assert score(scorer_for(folder_with(tmp_path, output="scores")), ["yes"], "filler").single


def test_a_window_and_a_claim_of_full_length_are_read_whole(tmp_path):
    scorer = scorer_for(folder_with(tmp_path))
    assert scorer.traits.window_tokens == 24 - 3 - 6 - 4
    premise = "filler " * (scorer.traits.window_tokens - 1) + "yes"
    claim = "filler " * 5 + "no"
    (got,) = score(scorer, [premise], claim).single
    assert three(got.score) == pytest.approx(softmax((3, 0, 3)))
    with pytest.raises(ScoringError, match="7 tokens"):
        score(scorer, [premise], "filler " * 7)


def test_the_windows_of_a_long_passage_lose_none_of_its_words(tmp_path):
    scorer = scorer_for(folder_with(tmp_path), single_passes=50)
    text = "filler " * 200 + "yes " + "filler " * 200
    windows = cut([Passage("p", text)], scorer.token_spans, scorer.traits.window_tokens)
    got = score(scorer, [window.text for window in windows], "filler")
    assert [entry.score.entailment > 0.8 for entry in got.single].count(True) == 1


def test_only_the_premise_is_cut_should_a_pair_be_too_long_after_all(tmp_path):
    scorer = scorer_for(folder_with(tmp_path))
    (got,) = score(scorer, ["filler " * 30 + "yes"], "no").single
    assert three(got.score) == pytest.approx(softmax((0, 0, 3)))


def test_the_best_window_comes_first_and_cited_ones_are_read_too(tmp_path):
    scorer = scorer_for(folder_with(tmp_path), single_passes=1)
    premises = ["maybe", "no", "filler yes"]
    got = score(scorer, premises, Claim("filler", focus=(1,)))
    assert [entry.window for entry in got.single] == [2, 1]
    assert (got.passes, got.tokens_scored, got.joint, got.together, got.tokens) == (2, 1, None, (), ())


@pytest.mark.parametrize(
    ("files", "longest"),
    [
        ({"model_max_length": 40, "config": {"max_position_embeddings": 30}}, 30),
        ({"model_max_length": 10**30, "config": {"max_position_embeddings": 30}}, 30),
        ({"model_max_length": None, "config": {"max_position_embeddings": 32}}, 32),
        (
            {
                "model_max_length": None,
                "config": {"max_position_embeddings": 34, "model_type": "xlm-roberta", "pad_token_id": 1},
            },
            32,
        ),
    ],
)
def test_the_longest_input_is_what_the_models_files_say(tmp_path, files, longest):
    assert scorer_for(folder_with(tmp_path, **files)).traits.window_tokens == longest - 3 - 6 - 4


def test_a_model_that_does_not_say_how_much_it_reads_is_an_error(tmp_path):
    folder = folder_with(tmp_path, model_max_length=None)
    with pytest.raises(ModelContractError, match="max_tokens"):
        scorer_for(folder)
    assert scorer_for(folder, max_tokens=20).traits.window_tokens == 7


def test_a_calibration_in_the_folder_is_used_and_the_callers_goes_before_it(tmp_path):
    folder = folder_with(tmp_path)
    assert scorer_for(folder).traits.calibration.bias == 0
    (folder / "calibration.json").write_text('{"bias": 1.5}')
    calibration = scorer_for(folder).traits.calibration
    assert calibration.bias == 1.5
    other = calibration.model_copy(update={"bias": 2.0})
    assert scorer_for(folder, calibration=other).traits.calibration.bias == 2.0


@pytest.mark.parametrize(
    "options",
    [
        {"claim_tokens": 30},
        {"claim_tokens": 0},
        {"window_tokens": 100},
        {"window_tokens": 0},
        {"single_passes": 0},
    ],
)
def test_options_out_of_range_are_refused(tmp_path, options):
    with pytest.raises(UsageError):
        scorer_for(folder_with(tmp_path), **options)


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "model.onnx"])
def test_a_missing_file_is_an_error_that_names_it(tmp_path, missing):
    folder = folder_with(tmp_path)
    (folder / missing).unlink()
    with pytest.raises(ModelNotFoundError, match=missing):
        scorer_for(folder)


@pytest.mark.parametrize(
    ("broken", "content"), [("config.json", "[]"), ("config.json", "{"), ("tokenizer.json", "{}")]
)
def test_a_file_that_says_nonsense_is_an_error_that_names_it(tmp_path, broken, content):
    folder = folder_with(tmp_path)
    (folder / broken).write_text(content)
    with pytest.raises(ModelContractError, match=broken):
        scorer_for(folder)


def test_a_graph_with_inputs_nobody_can_give_is_an_error(tmp_path):
    folder = folder_with(tmp_path)
    model = onnx.load(folder / "model.onnx")
    model.graph.input.append(helper.make_tensor_value_info("pixel_values", TensorProto.INT64, ["b"]))
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ModelContractError, match="pixel_values"):
        scorer_for(folder)


def test_a_call_that_was_called_off_ends(tmp_path):
    scorer = scorer_for(folder_with(tmp_path))
    abort = Abort()
    prepared = scorer.prepare([Window(0, "yes", 0, 3)], abort=abort)
    abort.set()
    with pytest.raises(ScoringError, match="called off"):
        scorer.prepare([Window(0, "yes", 0, 3)], abort=abort)
    with pytest.raises(ScoringError, match="called off"):
        scorer.score(prepared, [Claim("filler")], abort=abort)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path):
    """The hub's cache as it is after a download of `owner/model`, branch `main`."""
    repository = tmp_path / "cache" / "models--owner--model"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    folder_with(snapshot, graph="onnx/model.onnx")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    return tmp_path / "cache"


@pytest.mark.parametrize("revision", [COMMIT, "main", None])
def test_a_hub_id_is_read_from_the_cache_and_its_commit_recorded(cache, revision):
    scorer = scorer_for("owner/model", revision=revision, cache_dir=cache, local_files_only=True)
    assert scorer.fingerprint.model == "owner/model"
    assert scorer.fingerprint.revision.startswith(f"{COMMIT[:12]}/")
    assert score(scorer, ["yes"], "filler").single[0].score.entailment > 0.8


def test_a_hub_id_that_is_not_in_the_cache_is_an_error_that_says_what_to_do(cache):
    for name, revision in (("owner/other", None), ("owner/model", "f" * 40)):
        with pytest.raises(ModelNotFoundError, match="give its folder"):
            scorer_for(name, revision=revision, cache_dir=cache, local_files_only=True)


def test_a_hub_model_without_a_graph_is_an_error_that_says_where_it_was_looked_for(cache):
    (cache / "models--owner--model" / "snapshots" / COMMIT / "onnx" / "model.onnx").unlink()
    with pytest.raises(ModelNotFoundError, match="onnx/model_quantized"):
        scorer_for("owner/model", cache_dir=cache, local_files_only=True)


@pytest.mark.parametrize("source", ["nowhere", "./owner/model", "/owner/model", "a/b/c"])
def test_neither_a_folder_nor_a_hub_id_is_an_error_that_says_what_is_wanted(source):
    with pytest.raises(ModelNotFoundError, match="owner/name"):
        scorer_for(source)


def test_a_hub_id_is_read_in_a_fresh_process(cache):
    script = (
        "import sys; from streamverify.scorers.hub import locate; "
        "print(locate('owner/model', cache_dir=sys.argv[1], local_files_only=True).revision)"
    )
    command = [sys.executable, "-c", script, str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout[:12]) == ("", COMMIT[:12])


def test_a_missing_folder_beside_others_is_not_looked_for_on_the_hub(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner").mkdir()
    with pytest.raises(ModelNotFoundError, match="no such folder in 'owner'"):
        scorer_for("owner/model", cache_dir=cache)
    named = scorer_for("owner/model", revision="main", cache_dir=cache, local_files_only=True)
    assert named.fingerprint.model == "owner/model"
