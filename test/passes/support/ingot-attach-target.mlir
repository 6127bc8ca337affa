// RUN: ingot-opt %s --ingot-attach-target='level=znver4 l2=524288' | FileCheck %s
// RUN: ingot-opt %s --ingot-attach-target | FileCheck %s --check-prefix=USUAL
// RUN: not ingot-opt %s --ingot-attach-target='level=pentium' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt %s --ingot-attach-target='l1=16' 2>&1 | FileCheck %s --check-prefix=SMALL

// CHECK: module attributes {ingot.target = #ingot.target<"znver4", l2 = 524288>}
// USUAL: module attributes {ingot.target = #ingot.target<"x86-64-v3">}
// UNKNOWN: error: unknown CPU level 'pentium': use one of x86-64-v2
// SMALL: error: expects caches of 4096 to 1073741824 bytes, but got l1 = 16, l2 = 1048576
module attributes {ingot.target = #ingot.target<"cascadelake">} {
}
