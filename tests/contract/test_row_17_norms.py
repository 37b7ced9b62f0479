"""Rows 17 to 19: norm layers come with tensorplay.nn's norm layers; what names them says so until then."""

import pytest

import tensorplay as tp
import tensorplay.func

nn = pytest.importorskip("tensorplay.nn")
HAS = hasattr(nn, "BatchNorm1d")


@pytest.mark.skipif(HAS, reason="the layers are here, and have tests of their own")
def test_the_helpers_say_what_is_missing():
    with pytest.raises((ImportError, AttributeError)) as caught:
        tensorplay.func.replace_all_batch_norm_modules_
    assert "tensorplay-nn" in str(caught.value)


def test_what_a_norm_layer_is_made_of_can_be_mapped():
    x = tp.randn(4, 6, 5)

    def layer_norm(t):
        return (t - t.mean(-1, True)) / (t.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()

    got = tensorplay.func.vmap(layer_norm)(x)
    tp.testing.assert_close(got, tp.stack([layer_norm(t) for t in x.unbind(0)]))
