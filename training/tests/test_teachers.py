"""A student taught by other networks: what it is compared with, and that it comes nearer."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from training.architecture import PremiseCachedEncoder
from training.batches import VIEWS, build_batch
from training.data import ENTAIL, NEUTRAL, load_set, read_taught
from training.losses import Taught, batch_losses, sentence_loss, taught_loss
from training.teachers import Teachers
from training.tests.test_recipe import plan
from training.tests.toys import SHAPES, network
from training.train import train
from training.windows import load_tokenizer


@pytest.fixture(scope="module")
def batch(data, tokenizer_file):
    contexts = load_set(data / "train" / "hand.jsonl.gz", load_tokenizer(tokenizer_file))
    return build_batch(contexts[:4], VIEWS["hand"], np.random.default_rng(5))


@pytest.fixture(scope="module")
def networks():
    torch.manual_seed(4)
    return [network(PremiseCachedEncoder, shape) for shape in SHAPES]


def random_answers(batch, seed):
    made = torch.Generator().manual_seed(seed)
    claims, tokens = len(batch.labels), len(batch.packed.claim_ids)
    return torch.randn(claims, 3, generator=made), torch.randn(tokens, generator=made)


def test_teachers_say_the_mean_of_their_log_odds_whatever_their_shapes(batch, networks):
    said = Teachers(networks).say(batch.packed)
    alone = [Teachers([one]).say(batch.packed) for one in networks]
    assert torch.allclose(said.claims, (alone[0].claims + alone[1].claims) / 2, atol=1e-6)
    assert torch.allclose(said.tokens, (alone[0].tokens + alone[1].tokens) / 2, atol=1e-6)
    assert torch.allclose(alone[0].claims.exp().sum(-1), torch.ones(len(batch.labels)), atol=1e-5)


def test_nothing_is_learnt_by_a_teacher(batch, networks):
    said = Teachers(networks).say(batch.packed)
    assert not said.claims.requires_grad
    assert not said.tokens.requires_grad
    assert not any(p.requires_grad for one in networks for p in one.parameters())


def test_no_teacher_is_an_error():
    with pytest.raises(ValueError, match="no teacher"):
        Teachers([])


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_least_where_the_student_says_the_same(batch, seed):
    claims, tokens = random_answers(batch, seed)
    taught = Taught(claims, tokens)
    same = taught_loss(claims + 3.0, tokens, batch, taught)  # a constant a claim says nothing
    for other in range(5):
        said, marked = random_answers(batch, 100 + other)
        assert float(taught_loss(said, tokens, batch, taught)) > float(same)
        assert float(taught_loss(claims, marked, batch, taught)) > float(same)


def test_what_pads_a_batch_is_not_taught(batch):
    claims, tokens = random_answers(batch, 1)
    logits, token_logits = (part.clone().requires_grad_() for part in random_answers(batch, 2))
    taught_loss(logits, token_logits, batch, Taught(claims, tokens)).backward()
    assert bool((batch.weights == 0).any())
    assert torch.equal((logits.grad != 0).any(-1), batch.weights > 0)
    assert not bool(token_logits.grad[batch.packed.claim_starts].any())  # [CLS], padding
    assert not bool(token_logits.grad[batch.packed.claim_ids == 0].any())


def test_with_a_share_of_one_labels_count_for_nothing(batch):
    logits, token_logits = random_answers(batch, 2)
    taught = Taught(*random_answers(batch, 1))
    turned = dataclasses.replace(
        batch,
        labels=torch.where(batch.labels == ENTAIL, NEUTRAL, ENTAIL),
        marks=torch.where(batch.marks >= 0, 1 - batch.marks, batch.marks),
    )
    found = [batch_losses(logits, token_logits, b, taught, 1.0) for b in (batch, turned)]
    assert float(found[0].total) == pytest.approx(float(found[1].total), abs=1e-6)
    assert float(found[0].total) == pytest.approx(found[0].taught, abs=1e-6)
    assert found[0].sentence != pytest.approx(found[1].sentence, abs=1e-3)


def test_the_share_weighs_labels_against_teachers(batch):
    logits, token_logits = random_answers(batch, 2)
    taught = Taught(*random_answers(batch, 1))
    labels, both, teachers = (
        float(batch_losses(logits, token_logits, batch, taught, share).total) for share in (0.0, 0.25, 1.0)
    )
    assert both == pytest.approx(0.75 * labels + 0.25 * teachers, abs=1e-5)
    assert float(batch_losses(logits, token_logits, batch).total) == labels


def test_a_student_comes_nearer_to_its_teacher_against_the_labels(tmp_path, data, start, tokenizer_file):
    """A teacher sure that everything is neutral, and no weight for labels."""
    torch.manual_seed(1)
    teacher = PremiseCachedEncoder()
    with torch.no_grad():
        teacher.head[2].weight.zero_()
        teacher.head[2].bias.copy_(torch.tensor([0.0, 5.0, 0.0]))
    save_file(teacher.state_dict(), tmp_path / "teacher.safetensors")
    mixture = tmp_path / "mixture.toml"
    mixture.write_text((data / "mixture.toml").read_text() + "[taught]\nhand = 1.0\npairs = 1.0\n")
    told = plan(tmp_path / "run", data, start, tokenizer_file, 6_000)
    told = dataclasses.replace(
        told, mixture=mixture, teachers=(tmp_path / "teacher.safetensors",), rate=5e-4, parts=1, batch=0.2
    )
    run = train(told)
    lines = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    found = [entry["losses"]["hand taught"] for line in lines if "losses" in (entry := json.loads(line))]
    assert found[-1] < found[0] / 2
    run.model.eval()
    contexts = load_set(data / "train" / "hand.jsonl.gz", load_tokenizer(tokenizer_file))
    shown = build_batch(contexts[:4], VIEWS["hand"], np.random.default_rng(6))
    with torch.inference_mode(), run.model.precision():
        logits, _ = run.model(shown.packed)
    logits, real = logits.float(), shown.weights > 0
    assert bool((logits.argmax(-1) == NEUTRAL)[real].all())
    entailed = real & (shown.labels == ENTAIL)
    assert float(sentence_loss(logits, shown.labels)[entailed].mean()) > 1.0


def test_shares_that_are_no_part_are_refused(tmp_path):
    mixture = tmp_path / "mixture.toml"
    mixture.write_text("[share]\nhand = 1.0\n")
    assert read_taught(mixture) == {}
    mixture.write_text("[taught]\nhand = 1.5\n")
    with pytest.raises(ValueError, match=r"taught\.hand is 1\.5"):
        read_taught(mixture)
