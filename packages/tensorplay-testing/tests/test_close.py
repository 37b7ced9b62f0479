"""assert_close: what passes, what does not, and what it says."""

import dataclasses

import numpy as np
import pytest

import tensorplay as tp
from tensorplay.testing import assert_close


def test_equal_values_pass():
    assert_close(tp.tensor([1.0, 2.0]), tp.tensor([1.0, 2.0]))
    assert_close(tp.tensor([1, 2]), np.array([1, 2]))
    assert_close(tp.tensor(3.0), 3.0)
    assert_close([tp.ones(2), {"a": tp.zeros(3)}], [np.ones(2, np.float32), {"a": tp.zeros(3)}])
    assert_close(tp.tensor([float("nan"), float("inf")]), tp.tensor([float("nan"), float("inf")]))
    assert_close(tp.zeros(0, 3), tp.zeros(0, 3))
    assert_close(tp.ones(2).to(tp.bfloat16), tp.ones(2).to(tp.bfloat16))


@pytest.mark.parametrize(
    "dtype, small, large",
    [
        (tp.float64, 5e-8, 5e-7),
        (tp.float32, 5e-6, 5e-5),
        (tp.float16, 5e-4, 5e-3),
        (tp.bfloat16, 8e-3, 4e-2),
    ],
)
def test_tolerance_follows_the_dtype(dtype, small, large):
    one = tp.ones(3, dtype=dtype)
    assert_close(one + small, one)
    with pytest.raises(AssertionError, match="elements differ"):
        assert_close(one + large, one)


def test_the_message_names_error_and_index():
    a = tp.zeros(2, 3)
    a[1, 2] = 0.5
    with pytest.raises(
        AssertionError, match=r"1 of 6 elements differ; the largest error is 0.5 at index \(1, 2\): got 0.5, expected 0"
    ):
        assert_close(a, tp.zeros(2, 3))
    with pytest.raises(AssertionError, match=r"^\[1\]\['w'\]: "):
        assert_close([tp.zeros(2), {"w": tp.ones(2)}], [tp.zeros(2), {"w": tp.zeros(2)}])
    with pytest.raises(AssertionError, match="^step 3: "):
        assert_close(tp.ones(1), tp.zeros(1), msg="step 3")


@pytest.mark.parametrize(
    "actual, expected, message",
    [
        (tp.ones(2), tp.ones(3), r"the shape is \[2\], expected \[3\]"),
        (tp.ones(2), tp.ones(2, dtype=tp.float64), "the dtype is float32, expected float64"),
        (tp.tensor([1, 2]), tp.tensor([1, 3]), "got 2, expected 3"),
        (tp.tensor([True]), tp.tensor([False]), "got True"),
        (tp.tensor([float("nan")]), tp.tensor([1.0]), "got nan"),
        (tp.tensor([float("inf")]), tp.tensor([float("-inf")]), "got inf"),
        ([tp.ones(1)], [tp.ones(1), tp.ones(1)], "the length is 1, expected 2"),
        ({"a": tp.ones(1)}, {"b": tp.ones(1)}, "the keys are"),
        (tp.ones(1), None, "expected NoneType"),
        (tp.tensor([2**60 + 1]), tp.tensor([2**60]), "differ"),
    ],
)
def test_differences_fail(actual, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected)


def test_options():
    nan = tp.tensor([float("nan")])
    with pytest.raises(AssertionError):
        assert_close(nan, nan, equal_nan=False)
    assert_close(tp.ones(2), tp.ones(2, dtype=tp.float64), check_dtype=False)
    assert_close(tp.tensor([1.1]), tp.tensor([1.0]), rtol=0, atol=0.11)
    with pytest.raises(AssertionError):
        assert_close(tp.tensor([1.1]), tp.tensor([1.0]), rtol=0, atol=0.09)
    assert_close(tp.tensor([10, 11]), tp.tensor([10, 10]), atol=1)


def test_dataclasses_and_named_tuples():
    @dataclasses.dataclass
    class Pair:
        a: object
        b: object

    assert_close(Pair(tp.ones(1), 2), Pair(tp.ones(1), 2))
    with pytest.raises(AssertionError, match=r"^\.b: "):
        assert_close(Pair(tp.ones(1), 2), Pair(tp.ones(1), 3))
    assert_close(tp.max(tp.tensor([[1.0, 2.0]]), 1), (tp.tensor([2.0]), tp.tensor([1])))
