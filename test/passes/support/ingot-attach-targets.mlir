// RUN: ingot-opt %s --ingot-attach-targets='levels=x86-64-v3,x86-64-v4 may=znver4 numbers=l2=512K,fma_ports=1' | FileCheck %s
// RUN: ingot-opt %s --ingot-attach-targets='device=nowhere levels=x86-64-v2' | FileCheck %s --check-prefix=DEVICE
// RUN: not ingot-opt %s --ingot-attach-targets 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ingot-opt %s --ingot-attach-targets='levels=x86-64-v3,pentium,i386' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt %s --ingot-attach-targets='levels=x86-64-v3 may=pentium' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt %s --ingot-attach-targets='levels=x86-64-v3,znver4 may=znver4' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not ingot-opt %s --ingot-attach-targets='levels=x86-64-v3 numbers=l1=16' 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not ingot-opt %s --ingot-attach-targets='levels=x86-64-v3 numbers=l3=1M' 2>&1 | FileCheck %s --check-prefix=PROPERTY

// Existing targets are replaced.
// CHECK: module attributes {ingot.targets = #ingot.targets<cpu, [<"x86-64-v3", l2 = 524288, fma_ports = 1>, <"x86-64-v4", l2 = 524288, fma_ports = 1>], may = [<"znver4", l2 = 524288, fma_ports = 1>]>}
// DEVICE: module attributes {ingot.targets = #ingot.targets<nowhere, [<"x86-64-v2">]>}
// NONE: error: expects a level that is sure
// UNKNOWN: error: unknown CPU level 'pentium': use one of x86-64-v2
// UNKNOWN-NOT: error
// TWICE: error: lists level 'znver4' twice
// SMALL: error: 'l1=16' of the target: use a number from 4096 to 1073741824, or with K or M behind it
// PROPERTY: error: unknown property 'l3' of a target: use one of l1, l2, line
module attributes {ingot.targets = #ingot.targets<cpu, [<"cascadelake">]>} {
}
