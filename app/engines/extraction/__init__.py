"""Learn from accepted tag sets of one schema version, and propose tags for new documents.

For each field, the engine lists *candidates*: locations in a document that may contain the field's
value. A *ranker*, which is trained on accepted tag sets, computes the probability that a candidate
is correct. The engine then chooses the best candidates, and builds tags from them.

The same inputs always give the same model, byte for byte, and the same tags. The modules `model`
and `contents` load neither numpy nor scikit-learn. Training uses one thread, and takes up to a
minute and up to 1 GB of memory. Train in a child process that can be killed, with
OMP_NUM_THREADS=1.

If there are too few examples for training, use `rule_based.propose_by_rules`, which needs no model.
"""
