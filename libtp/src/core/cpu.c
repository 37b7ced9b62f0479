#define _GNU_SOURCE
#include "cpu.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const char *tp_cpu_capability(void)
{
#if defined(__x86_64__)
    /* The feature sets of x86-64-v4 and v3 as far as they differ in practice. */
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return "avx2";
    return "default";
#elif defined(__aarch64__)
    return "neon";
#else
    return "default";
#endif
}

/* The beginning of a file in /proc or /sys, without allocating; false if there is none. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The value of a cgroup controller's file for this process: its own group first, then the root, which in
 * a container is the container's group. */
static bool read_cgroup(const char *controller, const char *v2, const char *v1, char *text, size_t size)
{
    char groups[4096], path[4600];
    if (!read_text("/proc/self/cgroup", groups, sizeof groups)) return false;
    for (char *line = groups, *end; line && *line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end) *end = 0;
        char *names = strchr(line, ':');
        char *group = names ? strchr(names + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        names++;
        if (!*names && v2) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, v2);
            if (read_text(path, text, size)) return true;
            snprintf(path, sizeof path, "/sys/fs/cgroup/%s", v2);
            if (read_text(path, text, size)) return true;
        } else if (*names && v1 && strstr(names, controller)) {
            snprintf(path, sizeof path, "/sys/fs/cgroup/%s%s/%s", controller, group, v1);
            if (read_text(path, text, size)) return true;
            snprintf(path, sizeof path, "/sys/fs/cgroup/%s/%s", controller, v1);
            if (read_text(path, text, size)) return true;
        }
    }
    return false;
}

int tpi_cpu_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) count = CPU_COUNT(&set);

    char text[256];
    long long quota = -1, period = 100000;
    if (read_cgroup("cpu", "cpu.max", NULL, text, sizeof text)) {
        if (sscanf(text, "%lld %lld", &quota, &period) != 2) quota = -1;
    } else if (read_cgroup("cpu", NULL, "cpu.cfs_quota_us", text, sizeof text)) {
        quota = atoll(text);
        if (read_cgroup("cpu", NULL, "cpu.cfs_period_us", text, sizeof text)) period = atoll(text);
    }
    if (quota > 0 && period > 0) {
        long allowed = (long)((quota + period - 1) / period);
        if (allowed < count) count = allowed;
    }
    return count < 1 ? 1 : (int)count;
}

uint64_t tpi_available_memory(void)
{
    char text[4096];
    uint64_t available = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned long long value, used;
    if (read_text("/proc/meminfo", text, sizeof text)) {
        const char *p = strstr(text, "MemAvailable:");
        if (p && sscanf(p, "MemAvailable: %llu", &value) == 1) available = value * 1024;
    }
    if (read_cgroup("memory", "memory.max", "memory.limit_in_bytes", text, sizeof text) &&
        sscanf(text, "%llu", &value) == 1) {
        used = 0;
        if (read_cgroup("memory", "memory.current", "memory.usage_in_bytes", text, sizeof text))
            sscanf(text, "%llu", &used);
        uint64_t left = value > used ? value - used : 0;
        if (left < available) available = left;
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        read_text("/proc/self/statm", text, sizeof text) && sscanf(text, "%llu", &used) == 1) {
        used *= (unsigned long long)sysconf(_SC_PAGESIZE);
        uint64_t left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
        if (left < available) available = left;
    }
    return available;
}
