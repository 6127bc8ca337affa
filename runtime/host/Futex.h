//===- Futex.h - sleeping on a word ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_FUTEX_H
#define INGOT_RUNTIME_HOST_FUTEX_H

#include <atomic>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ingot::rt {

inline void futexWaitOn(void *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
inline void futexWakeOn(void *word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

/// Sleeps while `word` is `expected`; may return early.
inline void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  futexWaitOn(&word, expected);
}
inline void futexWake(std::atomic<uint32_t> &word, int threads) {
  futexWakeOn(&word, threads);
}

// The low half of a 64-bit word comes first in memory.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little endian only");
static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t), "plain word");
inline void futexWaitLowHalf(std::atomic<uint64_t> &word, uint32_t expected) {
  futexWaitOn(&word, expected);
}
inline void futexWakeLowHalf(std::atomic<uint64_t> &word) {
  futexWakeOn(&word, 1);
}

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_FUTEX_H
