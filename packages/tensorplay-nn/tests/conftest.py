"""The package needs no transforms; checks that use them are left out where tensorplay-func is not installed."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except ImportError as error:
        if (error.name or "").startswith("tensorplay.func") or "tensorplay-func" in str(error):
            pytest.skip("needs tensorplay-func")
        raise
