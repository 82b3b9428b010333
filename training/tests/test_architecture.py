"""The two networks: what a claim reads, and that packing, blocks and the exported graph change nothing."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import numpy_helper
from safetensors.torch import load_file, save_file

from training import export
from training.architecture import Block, PremiseCachedEncoder, position_buckets
from training.attention import attend
from training.batches import pack_claims, window_rows
from training.checkpoints import from_weights
from training.full_attention import FullAttentionEncoder
from training.graph import OPSETS, Nodes, Writer
from training.restore import dequantized, restore
from training.tests.toys import SHAPES, network
from training.windows import load_tokenizer


@pytest.mark.parametrize("which", [0, 1])
def test_the_librarys_batched_graph_of_a_release_computes_what_the_network_computes(tmp_path, which):
    """With the weights that the release's 8 bits stand for: several claims a run, in 32 and in 16 bits."""
    graphs = pytest.importorskip(
        "streamverify.scorers.graphs.batched_graph", reason="the library is not installed"
    )
    from streamverify.scorers.protocol import Abort

    torch.manual_seed(5)
    export.write_int8(network(PremiseCachedEncoder, SHAPES[which]), tmp_path / "model.int8.onnx")
    released = onnx.load(tmp_path / "model.int8.onnx")
    held = {one.name: numpy_helper.to_array(one) for one in released.graph.initializer}
    model = from_weights(restore(released, {"word.weight": dequantized(held, "word.weight")})).eval()
    rows = [np.arange(105 + n, 112 + 2 * n).astype(np.uint16) for n in range(4)]
    claims = [np.array([101, *range(110, 120 + 3 * n), 102], np.uint16) for n in range(3)]
    seen = [[0], [1, 2], [3, 0, 1, 2]]
    for precision, apart in (("float32", 1e-4), ("float16", 0.01)):
        graph = graphs.BatchedGraph(tmp_path / "model.int8.onnx", provider="cpu", precision=precision)
        windows = [graph.encode([101, *row.tolist(), 102], abort=Abort()) for row in rows]
        for claim in claims:
            groups = [[windows[one] for one in group] for group in seen]
            found = graph.read_several(claim.tolist(), groups, abort=Abort())
            for (logits, marks), group in zip(found, seen, strict=True):
                read = [rows[one] for one in group]
                packed = pack_claims(*window_rows(read), [claim], [Block(range(1), range(len(read)))])
                with torch.inference_mode():
                    expected, expected_marks = model(packed)
                assert np.abs(logits - expected[0].numpy()).max() < apart
                assert np.abs(marks - expected_marks.numpy()).max() < apart


def test_a_token_with_large_numbers_leaves_the_others_theirs():
    """In MPNet's feed-forward products, where a few tokens have numbers twenty times those of the others."""
    torch.manual_seed(1)
    model = network(PremiseCachedEncoder, SHAPES[1]).eval()
    writer, nodes, hidden = Writer(model, int8=True), Nodes(), SHAPES[1].hidden
    out = writer._feed_forward(nodes, "x", "layers.0.f1", "place")  # noqa: SLF001 - the one product
    kinds = {"x": [None, hidden], out: [None, 4 * hidden]}
    given, gives = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in kinds.items()
    )
    held = list(writer._held.values())  # noqa: SLF001
    graph = onnx.helper.make_graph(nodes.nodes, "product", [given], [gives], held)
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    content = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    x = torch.randn(12, hidden)
    x[3] *= 200
    x[5] = 0
    with torch.inference_mode():
        expected = model.layers[0].f1(x).numpy()
    found = session.run(None, {"x": x.numpy()})[0]
    sizes = np.abs(expected).max(1)
    assert (np.abs(found - expected).max(1) < 0.03 * sizes).all()


def test_relative_positions_are_in_the_graph(tmp_path, tokenizer_file):
    torch.manual_seed(3)
    weights = tmp_path / "weights.safetensors"
    save_file(network(PremiseCachedEncoder, SHAPES[1]).state_dict(), weights)
    figures = export.release(weights, tokenizer_file, load_tokenizer(tokenizer_file), tmp_path / "out")
    assert figures["float32_parity"] < 1e-4
    # No length is baked in.
    model, session = (
        from_weights(load_file(weights)).eval(),
        export.Session(tmp_path / "out/model.float32.onnx"),
    )
    claim = np.array([101, *range(110, 115), *range(110, 115), 102], np.uint16)
    window = np.array([*range(110, 115)] * 12, np.uint16)
    packed = pack_claims(*window_rows([window]), [claim], [Block(range(1), [0])])
    with torch.inference_mode():
        expected = model(packed)[0][0].numpy()
    found, _ = session.read(claim.tolist(), [session.encode([101, *window.tolist(), 102])])
    assert np.abs(expected - found).max() < 1e-4
    released = restore(onnx.load(tmp_path / "out/model.int8.onnx"), load_file(weights))
    assert torch.equal(released["relative"], load_file(weights)["relative"])


@pytest.mark.parametrize("shape", range(2))
def test_a_claim_reads_any_number_of_windows_in_their_order(tmp_path, shape):
    torch.manual_seed(shape)
    model = network(PremiseCachedEncoder, SHAPES[shape]).eval()
    export.write_float32(model, tmp_path / "graph.onnx")
    session = export.Session(tmp_path / "graph.onnx")
    claim = np.array([101, *range(110, 120), 102], np.uint16)
    rows = [np.arange(105 + n, 112 + 2 * n).astype(np.uint16) for n in range(6)]
    windows = [session.encode([101, *row.tolist(), 102]) for row in rows]
    for count in range(1, 7):
        packed = pack_claims(*window_rows(rows[:count]), [claim], [Block(range(1), range(count))])
        with torch.inference_mode():
            logits, marks = model(packed)
        found, found_marks = session.read(claim.tolist(), windows[:count])
        assert np.abs(logits[0].numpy() - found).max() < 1e-4, count
        assert np.abs(marks.numpy() - found_marks).max() < 1e-4, count


def test_buckets_are_those_of_the_published_formula():
    distance = torch.arange(-200, 201)
    found = position_buckets(distance, 32)
    near = distance.abs() < 8
    assert torch.equal(found[near & (distance <= 0)], -distance[near & (distance <= 0)])
    assert torch.equal(found[near & (distance > 0)], 16 + distance[near & (distance > 0)])
    assert (found[distance <= -128] == 15).all()
    assert (found[distance >= 128] == 31).all()
    for d, bucket in ((8, 8), (11, 8), (12, 9), (16, 10), (64, 14), (127, 15)):
        assert position_buckets(torch.tensor([-d]), 32).item() == bucket


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [PremiseCachedEncoder, FullAttentionEncoder])
def test_a_packed_claim_scores_as_it_does_alone(form, shape):
    torch.manual_seed(1)
    model = network(form, shape)
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


@pytest.mark.parametrize("shape", SHAPES)
def test_the_two_forms_differ_only_where_windows_are_read(shape):
    torch.manual_seed(1)
    cached, full = network(PremiseCachedEncoder, shape), network(FullAttentionEncoder, shape)
    full.load_state_dict(cached.state_dict())
    rows = window_rows([np.arange(110, 118, dtype=np.uint16)])
    claims = [np.array([101, 111, 112, 102], np.uint16)] * 2
    packed = pack_claims(*rows, claims, [Block(range(1), []), Block(range(1, 2), [0])])
    with torch.inference_mode():
        ours, theirs = cached(packed)[0], full(packed)[0]
    assert torch.allclose(ours[0], theirs[0], atol=1e-5)
    assert not torch.allclose(ours[1], theirs[1], atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [PremiseCachedEncoder, FullAttentionEncoder])
def test_claims_of_one_block_see_only_their_own_windows(form, shape):
    torch.manual_seed(1)
    model = network(form, shape)
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
    torch.manual_seed(0)
    inputs = [torch.randn(2, 3, n, 8, dtype=torch.double, requires_grad=True) for n in (4, 6, 6)]
    bias = torch.zeros(4, 6, dtype=torch.double).masked_fill_(torch.rand(4, 6) < 0.3, -1e4)
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, bias), inputs)
