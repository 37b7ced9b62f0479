"""What ci/abi.py takes for a break of the ABI, for an addition, and for neither: each edit of a small header alone."""

import importlib.util
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
if shutil.which("abidiff") is None or shutil.which("cc") is None:
    pytest.skip("needs abidiff and cc", allow_module_level=True)

HEADER = """\
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define TP_API
#define TP_VERSION_MINOR 1
#define TP_LIMIT 64
enum tp_status {
    TP_OK = 0,
    TP_ERR_VALUE = 1
};
typedef struct tp_tensor tp_tensor;
typedef struct tp_pair {
    int32_t tag;
    double value;
} tp_pair;
typedef struct tp_stats {
    size_t struct_size;
    uint64_t bytes;
} tp_stats;
typedef int (*tp_call)(void *payload, tp_tensor *const *args, int64_t n);
TP_API tp_tensor *tp_add(tp_tensor *self, tp_tensor *other, const tp_pair *alpha);
TP_API int tp_stats_get(tp_stats *stats);
TP_API int tp_map(tp_call call, void *payload, void (*destroy)(void *));
TP_API void tp_release(tp_tensor *t);
"""

BREAKS = {
    "a function is gone": ("TP_API void tp_release(tp_tensor *t);\n", ""),
    "an argument more": ("tp_add(tp_tensor *self,", "tp_add(tp_tensor *self, int dim,"),
    "another type of an argument": ("tp_stats_get(tp_stats *stats)", "tp_stats_get(const char *stats)"),
    "another result": ("TP_API void tp_release", "TP_API int64_t tp_release"),
    "another member": ("    int32_t tag;\n", "    int64_t tag;\n"),
    "a member of another type, no larger": ("    double value;\n", "    uint64_t value;\n"),
    "a member at the end of a struct that does not say its size": ("value;\n", "value;\n    double more;\n"),
    "a member inside of one that does": ("    uint64_t bytes;", "    uint64_t first;\n    uint64_t bytes;"),
    "a callback of other arguments": ("args, int64_t n);", "args, int n);"),
    "an argument of a callback's pointer": ("(*destroy)(void *)", "(*destroy)(void *, int)"),
    "a constant with another value": ("TP_ERR_VALUE = 1", "TP_ERR_VALUE = 2"),
    "a constant that is gone": (",\n    TP_ERR_VALUE = 1", ""),
    "a macro with another value": ("TP_LIMIT 64", "TP_LIMIT 128"),
}
ADDITIONS = {
    "a function": ("TP_API void tp_release", "TP_API int tp_new(void);\nTP_API void tp_release"),
    "a constant": ("TP_ERR_VALUE = 1", "TP_ERR_VALUE = 1,\n    TP_ERR_TYPE = 2"),
    "a macro": ("#define TP_LIMIT 64", "#define TP_LIMIT 64\n#define TP_OTHER 1"),
    "a member at the end of a struct that says its size": ("bytes;\n", "bytes;\n    uint64_t peak;\n"),
    "a struct": ("typedef int (*tp_call)", "typedef struct tp_more {\n    int a;\n} tp_more;\ntypedef int (*tp_call)"),
}
NEITHER = {
    "nothing": ("", ""),
    "a name of an argument": ("tp_tensor *other", "tp_tensor *second"),
    "the version of the release": ("TP_VERSION_MINOR 1", "TP_VERSION_MINOR 2"),
    "the order of functions": ("TP_API void tp_release(tp_tensor *t);\n", "\nTP_API void tp_release(tp_tensor *t);\n"),
}
CASES = [(kind, *edit) for kind, edits in (("broken", BREAKS), ("added", ADDITIONS), ("neither", NEITHER))
         for edit in edits.items()]


@pytest.fixture(scope="module")
def abi():
    spec = importlib.util.spec_from_file_location("abi", ROOT / "ci" / "abi.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def headers(abi, folder, text):
    (folder / "tp").mkdir(parents=True)
    (folder / "tp" / "tp.h").write_text(text)
    return abi.Abi(folder)


@pytest.mark.parametrize("kind, name, edit", CASES, ids=[f"{kind}: {name}" for kind, name, _ in CASES])
def test_edit(abi, tmp_path, kind, name, edit):
    changed = HEADER.replace(*edit)
    assert (changed == HEADER) == (name == "nothing")
    (tmp_path / "work").mkdir()
    broken, added = abi.compare(headers(abi, tmp_path / "old", HEADER), headers(abi, tmp_path / "new", changed),
                                tmp_path / "work")
    assert ("broken" if broken else "added" if added else "neither") == kind, (broken, added)
