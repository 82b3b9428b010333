"""A model's graph: read from its file, written anew where another form suits the processor, and run.

onnx_fields, onnx_writer    the file's form
signed_weights              the same numbers in the sign that this processor multiplies fastest
packed_passes               several passes of a claim in one run, for CPUs
device_graph                rows of many claims in 16 bits, for graphics processors
onnx_runtime, runtime       a session, held as a library in somebody else's process must
batching                    callers that wait share a run
premise_graph, batched_graph    what the scorer asks: encode a window, read a claim
"""
