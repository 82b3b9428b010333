"""A tokenizer, data and weights small enough to train on."""

import gzip
import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from training.architecture import PremiseCachedEncoder

WORDS = "the tower bridge ferry museum opened closed in near 1874 1901 1950 harbour it is was not".split()


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("start") / "start.safetensors"
    save_file(PremiseCachedEncoder().state_dict(), path)
    return path
