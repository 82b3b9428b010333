"""Windows of passages as the model keeps them: encoded once, found again, bounded in bytes.

keys_values        what is kept of a window, in 32 or 16 bits
blocks             memory for it
cache              in this process: computed once however many ask
window_store       in files that several processes map
window_room        how much there is to be had, the more passages are known
encoded_windows    encodes ahead, or when a claim asks
"""
