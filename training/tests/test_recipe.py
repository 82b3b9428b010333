"""The whole recipe in small: data, a few steps, resuming, export, parity, calibration, card."""

import functools
import json
import multiprocessing
import socket

import onnx
import pytest
import torch
from safetensors.torch import load_file

from training import calibrate, card, export
from training.architecture import MINILM_L6, PremiseCachedEncoder
from training.parallel import MEET_EVERY, run_crew
from training.plan import Plan
from training.restore import restore
from training.tests.toys import SHAPES
from training.train import held_apart, train, train_in_crew, trained_groups
from training.windows import load_tokenizer


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


def test_what_is_held_apart_is_spread_over_a_sorted_set():
    kept, apart = held_apart(list(range(100)), 10)
    assert apart == list(range(0, 100, 10))
    assert sorted([*kept, *apart]) == list(range(100))
    assert held_apart([1, 2, 3], 10) == ([], [1, 2, 3])


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


def wait_for_ever(port, _):
    with socket.create_connection(("127.0.0.1", port)) as here:
        here.sendall(b"!")
        here.recv(1)


def lead(port, folder):
    run_crew(functools.partial(wait_for_ever, port), 2, folder)


def test_processes_end_with_the_one_that_started_them_even_if_it_is_killed(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        parent = multiprocessing.get_context("spawn").Process(
            target=lead, args=(server.getsockname()[1], tmp_path)
        )
        parent.start()
        members = [server.accept()[0] for _ in range(2)]
        for member in members:
            member.settimeout(120)
            assert member.recv(1) == b"!"
        parent.kill()
        assert [member.recv(1) for member in members] == [b"", b""]
        parent.join()
        for member in members:
            member.close()


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
    told = (folder / "README.md").read_text()
    assert "Sets whose source states no licence: pairs." in told
    assert f"(12, past, {MINILM_L6.hidden // 12}) float32" in told
    assert f"(1, {MINILM_L6.hidden})" in told
    fused = tmp_path / "fused.json"
    row = {"auroc": 0.75, "balanced_accuracy": 0.7, "missed_per_100": 20, "calibration_error": 0.05}
    fused.write_text(json.dumps({"all of these": row}))
    monkeypatch.setattr("sys.argv", ["card", str(folder), *arguments, "--fused", str(fused)])
    card.main()
    assert "| all of these | 0.750 | 0.700 | 20.0 | 0.050 |" in (folder / "README.md").read_text()
    listed = {line.split("  ")[1] for line in (folder / "sha256sums").read_text().splitlines()}
    assert listed | {"sha256sums"} == {path.name for path in folder.iterdir()}


def test_the_rate_falls_with_each_layer_down():
    model = PremiseCachedEncoder(SHAPES[1])
    model.word.weight.requires_grad_(False)
    groups = trained_groups(model, 0.5)
    part_of = {id(weights): group["part"] for group in groups for weights in group["params"]}
    parts = {
        name: part_of[id(weights)] for name, weights in model.named_parameters() if weights.requires_grad
    }
    assert len(parts) == sum(len(group["params"]) for group in groups)
    assert parts["head.0.weight"] == parts["typ.weight"] == parts["layers.3.q.weight"] == 1
    assert [parts[f"layers.{n}.f1.bias"] for n in range(4)] == [1 / 8, 1 / 4, 1 / 2, 1]
    assert parts["pos.weight"] == parts["ln.bias"] == 1 / 16
