"""The battery passes for what is right and fails for what is wrong."""

import pytest
import torch
from torch.nn import functional as F

import contract
import qkv
from contract import CHECKS, applicable, examine, numpy_array, torch_array
from wrong_attentions import WRONG, WRONG_HEADS, Heads, attention


def computed(*args, return_weights=False, **options):
    """Take qkv's path that computes the weights, never torch's kernels."""
    both = qkv.scaled_dot_product_attention(
        *args, **options, return_weights=True
    )
    return both if return_weights else both[0]


OURS = "maths", "contract"
RIGHT = {
    "reference": (
        qkv.reference.scaled_dot_product_attention,
        numpy_array,
        OURS,
    ),
    "blockwise": (contract.blockwise, numpy_array, OURS),
    "fused": (qkv.scaled_dot_product_attention, torch_array, OURS),
    "computed": (computed, torch_array, OURS),
    "torch": (F.scaled_dot_product_attention, torch_array, ("maths",)),
    "compact": (attention, torch_array, OURS),
    "MultiHeadAttention": (qkv.MultiHeadAttention, torch_array, ("heads",)),
    "compact heads": (Heads, torch_array, ("heads",)),
}


@pytest.mark.parametrize("options", [{}, {"return_weights": True}])
def test_the_torch_function_says_that_it_wants_tensors(options):
    """Kills an error that names neither the argument nor the cure."""
    x = numpy_array([[[1.0, 2.0]]])
    with pytest.raises(TypeError, match=r"query must be a torch\.Tensor"):
        qkv.scaled_dot_product_attention(x, x, x, **options)


def test_return_weights_is_a_switch():
    """Kills an answer whose form depends on what counts as true."""
    x = torch.ones(1, 2, 4)
    for function, inputs in (
        (qkv.scaled_dot_product_attention, x),
        (qkv.reference.scaled_dot_product_attention, x.numpy()),
    ):
        with pytest.raises(TypeError, match="return_weights must be True or"):
            function(inputs, inputs, inputs, return_weights=1)


@pytest.mark.parametrize(
    ("who", "name"),
    [
        pytest.param(who, name, id=f"{who}-{name}")
        for who, (_, array, tags) in RIGHT.items()
        for name in applicable(array, *tags)
    ],
)
def test_passes(who, name):
    """Kills whatever the check of this name is about."""
    subject, array, _ = RIGHT[who]
    CHECKS[name](subject, array)


def test_tags_are_honest():
    """Kills a check tagged contract that torch's own function passes."""
    problems = examine(F.scaled_dot_product_attention, torch_array)
    contracts = applicable(torch_array, "contract")
    assert list(problems) == contracts


def test_kill_table(capsys):
    """Kills a battery that lets a mistake pass, and a check without use."""
    table = contract.kill_table()
    with capsys.disabled():
        contract.print_table(table)
    assert len(table) == len(WRONG) + len(WRONG_HEADS) >= 24
    assert [name for name, killers in table.items() if not killers] == []
    useful = {check for killers in table.values() for check in killers}
    assert set(CHECKS) - useful == set()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_attention_runs(name):
    """Kills a wrong attention that is only found because it crashes."""
    wrong, array = WRONG[name]
    inputs = [array(torch.randn(2, 3, 4, 4)) for _ in range(3)]
    wrong(*inputs)
    if name != "mask must be a tensor":
        wrong(*inputs, attn_mask=array(torch.ones(4, 4) > 0))


@pytest.mark.parametrize("name", WRONG_HEADS)
def test_wrong_heads_run(name):
    """Kills wrong heads that are only found because they crash."""
    WRONG_HEADS[name](12, 3)(torch.randn(4, 4, 12))


DIAGNOSES = [
    ("scale 1/d_k", "default_scale", "1/d_k, not 1/√d_k"),
    ("scale missing", "default_scale", "no scaling"),
    ("scale √d_k, multiplied", "default_scale", "multiplied instead"),
    ("scale 1/√d_model", "default_scale", "1/√d_model"),
    ("scale 1/√heads", "default_scale", "1/√heads"),
    ("scale 1/√S", "default_scale", "1/√S"),
    ("scale after the softmax", "default_scale", "after the softmax"),
    ("custom scale ignored", "custom_scale", "ignored"),
    ("softmax over the queries", "softmax_over_keys", "over the queries"),
    ("softmax over the heads", "softmax_over_keys", "over the heads"),
    ("softmax over the batch", "softmax_over_keys", "over the batch"),
    ("softmax over the heads", "batch_and_heads_apart", "across heads"),
    ("softmax over the batch", "batch_and_heads_apart", "across the batch"),
    ("softmax without subtracting the largest", "scores_of_ten_thousand",
     "subtract the largest"),
    ("mask inverted", "boolean_mask", "polarity"),
    ("mask computed but not assigned", "boolean_mask", "not used"),
    ("mask fills with 0", "boolean_mask", "set to 0"),
    ("0/1 mask added to the scores", "boolean_mask", "added to the scores"),
    ("mask after the softmax", "boolean_mask", "without renormalising"),
    ("mask forgotten", "float_mask", "not used"),
    ("float mask only seen where it is -inf", "float_mask", "only -inf"),
    ("float mask added before scaling", "float_mask", "before scaling"),
    ("causal off by one: not itself", "causal", "not see itself"),
    ("causal off by one: one of the future", "causal", "of the future"),
    ("causal upside down", "causal", "future instead of the past"),
    ("causal ignored", "causal", "ignored"),
    ("causal ignored when a mask is given", "mask_and_causal_together",
     "is_causal is ignored"),
    ("mask ignored when causal is given", "mask_and_causal_together",
     "attn_mask is ignored"),
    ("causal top-left, L ≠ S accepted silently",
     "causal_needs_equal_lengths", "accepted silently"),
    ("NaN on empty rows", "empty_rows", "NaN"),
    ("mean on empty rows", "empty_rows", "mean"),
    ("NaN only in the gradients of empty rows",
     "gradients_with_an_empty_row", "NaN in the gradient"),
    ("key and value heads tiled", "grouped_queries", "tiled"),
    ("keys handed over as values", "roles_of_key_and_value", "handed over"),
    ("key and value swapped", "roles_of_key_and_value", "swapped"),
    ("np.sqrt turns float32 into float64", "float32_stays", "math.sqrt"),
    ("query scaled in place", "inputs_untouched", "query was changed"),
    ("no gradient through the weights", "gradients", "reaches the query"),
    ("dropout unless told otherwise", "no_dropout_unasked", "random"),
    ("dropout ignored", "dropout_when_asked", "ignored"),
    ("dropout not made up for", "dropout_when_asked", "not divided"),
    ("softcap ignored", "softcap_squashes_scores", "ignored"),
    ("softcap after the mask", "softcap_squashes_scores", "after the mask"),
    ("weights averaged over the heads", "weights_per_head", "averaged"),
    ("weights after dropout", "weights_before_dropout", "after dropout"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "check", "words"), DIAGNOSES)
def test_diagnosis(name, check, words):
    """Kills a message that blames something else than the mistake."""
    with pytest.raises(AssertionError, match=words):
        CHECKS[check](*WRONG[name])
