#include <tp/common.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

int tp_abi_version(void) { return TP_ABI_VERSION; }

const char *tp_library_version(void)
{
    return TEXT(TP_VERSION_MAJOR) "." TEXT(TP_VERSION_MINOR) "." TEXT(TP_VERSION_PATCH);
}
