// RUN: ingot-opt %s --ingot-attach-target='level=znver4 numbers=l2=512K,fma_ports=1' | FileCheck %s
// RUN: ingot-opt %s --ingot-attach-target | FileCheck %s --check-prefix=USUAL
// RUN: not ingot-opt %s --ingot-attach-target='level=pentium' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt %s --ingot-attach-target='numbers=l1=16' 2>&1 | FileCheck %s --check-prefix=SMALL

// CHECK: module attributes {ingot.target = #ingot.target<"znver4", l2 = 524288, fma_ports = 1>}
// USUAL: module attributes {ingot.target = #ingot.target<"x86-64-v3">}
// UNKNOWN: error: unknown CPU level 'pentium': use one of x86-64-v2
// SMALL: error: 'l1=16' of the target: use a number from 4096 to 1073741824, or with K or M behind it
// RUN: not ingot-opt %s --ingot-attach-target='numbers=l3=1M' 2>&1 | FileCheck %s --check-prefix=PROPERTY
// PROPERTY: error: unknown property 'l3' of a target: use one of l1, l2, line, set_stride, fma_ports, fma_latency, task_flops, task_bytes, most_tasks, prefetch_steps, amx_speed, amx_rows
module attributes {ingot.target = #ingot.target<"cascadelake">} {
}
