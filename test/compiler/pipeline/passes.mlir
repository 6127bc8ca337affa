// All passes of the pipeline, phase by phase, as the driver runs them.
// RUN: ingot-opt %s --ingot-nn --ingot-graph --ingot-quantize --ingot-layout --ingot-linalg --ingot-memory --ingot-kernels --ingot-llvm \
// RUN:   --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s


// Phase nn.
// CHECK:      builtin.module(
// CHECK-NEXT: {{^ *}}onnx-legalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-require-sizes{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-name-sizes{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-hoist-checks{{[,{]|$}}
// CHECK-NEXT: {{^ *}})

// Phase graph.
// CHECK-NEXT: {{^ *}}nn-recognize-dequantize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-check-indices{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-refute-checks{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-promote-floats{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}nn-recognize-slices{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-simplify{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-recognize-norms{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-recognize-activations{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-pad{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-batch-norm{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-merge-branches{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-scale-shift{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-merge-convs{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-prune-channels{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-count-zero-weights{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-widen-conv-transpose{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-simplify{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}

// Phase quantize.
// CHECK-NEXT: {{^ *}}nn-recognize-fake-quantize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-patches-to-matmul{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-channel-scales{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-propagate-quantize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-clamp-bytes{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fuse-byte-attention{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-quantize-computed-products{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-quantize-products{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-pad-channels{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-quantize-int16{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-pack-weights{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-round-packed-rows{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-unpack-weights{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-merge-scale-shifts{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-decompose-quantize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-requantize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-byte-scales{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-narrow-saturation{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-dequantize{{[,{]|$}}

// Phase layout.
// CHECK-NEXT: {{^ *}}nn-drop-broadcasts{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-drop-identities{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-to-channels-last{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-propagate-transposes{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-recognize-norms{{[,{]|$}}
// CHECK-NEXT: {{^ *}}nn-fold-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}

// Phase linalg.
// CHECK-NEXT: {{^ *}}nn-lower-reshapes{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-broadcast-batches{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}nn-assign-backends{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-tabulate-bytes{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-skip-stored-bytes{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-fuse-attention{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}nn-fold-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-fuse-recurrent{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-repeat-channels{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-store-padding{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}conv-to-winograd{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}products-to-signs{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}nn-to-cpu{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}kernel-fuse-epilogues{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}signs-to-thresholds{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}cpu-decompose-conv-transpose{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}cpu-flatten-kernels{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}cpu-drop-zero-blocks{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}cpu-prove-pairs{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}cpu-prove-winograd{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}nn-to-linalg{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-refute-checks{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}fuse-elementwise{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}linalg-fill-splats{{[,{]|$}}
// CHECK-NEXT: {{^ *}}linalg-relax-reductions{{[,{]|$}}

// Phase memory.
// CHECK-NEXT: {{^ *}}prepare-entry{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-place-state{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}linalg-reuse-operands{{[,{]|$}}
// CHECK-NEXT: {{^ *}}kernel-reuse-epilogue-operands{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-hoist-checks{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}ingot-eliminate-empties{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-hoist-checks{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}resolve-ranked-shaped-type-result-dims{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-bufferize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}collect-weights{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func({{$}}
// CHECK-NEXT: {{^ *}}ingot-place-outputs{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}ingot-check-sizes{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-skip-unread{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}ingot-skip-empty-loops{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}chain-images{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}place-chunks{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}bound-buffers{{[,{]|$}}
// CHECK-NEXT: {{^ *}}plan-memory{{[,{]|$}}
// CHECK-NEXT: {{^ *}}outline-inference{{[,{]|$}}
// CHECK-NEXT: {{^ *}}instrument-layers{{[,{]|$}}
// CHECK-NEXT: {{^ *}}dnnl-to-calls{{[,{]|$}}

// Phase kernels.
// CHECK-NEXT: {{^ *}}cpu-schedule{{[,{]|$}}
// CHECK-NEXT: {{^ *}}outline-kernels{{[,{]|$}}
// CHECK-NEXT: {{^ *}}specialize-loops{{[,{]|$}}
// CHECK-NEXT: {{^ *}}collapse-loops{{[,{]|$}}
// CHECK-NEXT: {{^ *}}outline-linalg{{[,{]|$}}
// CHECK-NEXT: {{^ *}}outline-repeats{{[,{]|$}}

// Phase llvm.
// CHECK-NEXT: {{^ *}}cpu-attention-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-conv-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-depthwise-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-matmul-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-packed-matmul-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-winograd-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-band-matmul-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-group-norm-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-pack-signs-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-pool-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-recurrent-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-reduce-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-resample-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-round-blocks-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-row-norm-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-softmax-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-contractions-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}widen-rows{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-loops-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-tables-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cpu-transposes-to-vector{{[,{]|$}}
// CHECK-NEXT: {{^ *}}func.func(
// CHECK-NEXT: {{^ *}}linalg-to-loops{{[,{]|$}}
// CHECK-NEXT: {{^ *}})
// CHECK-NEXT: {{^ *}}saturate-integers{{[,{]|$}}
// CHECK-NEXT: {{^ *}}divide-by-constants{{[,{]|$}}
// CHECK-NEXT: {{^ *}}fuse-multiply-adds{{[,{]|$}}
// CHECK-NEXT: {{^ *}}merge-kernels{{[,{]|$}}
// CHECK-NEXT: {{^ *}}approximate-math{{[,{]|$}}
// CHECK-NEXT: {{^ *}}expand-bf16{{[,{]|$}}
// CHECK-NEXT: {{^ *}}expand-fma{{[,{]|$}}
// CHECK-NEXT: {{^ *}}round-to-integer{{[,{]|$}}
// CHECK-NEXT: {{^ *}}outline-loops{{[,{]|$}}
// CHECK-NEXT: {{^ *}}load-arguments{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cut-functions{{[,{]|$}}
// CHECK-NEXT: {{^ *}}lower-open-expansions{{[,{]|$}}
// CHECK-NEXT: {{^ *}}expand-views{{[,{]|$}}
// CHECK-NEXT: {{^ *}}lower-affine{{[,{]|$}}
// CHECK-NEXT: {{^ *}}guard-division{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: {{^ *}}lower-control-flow{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-convert-to-llvm{{[,{]|$}}
// CHECK-NEXT: {{^ *}}ingot-canonicalize{{[,{]|$}}
// CHECK-NEXT: {{^ *}}cse{{[,{]|$}}
// CHECK-NEXT: )


func.func @forward(%x: tensor<1xf32> {ingot.name = "x"}) -> (tensor<1xf32> {ingot.name = "y"}) {
  return %x : tensor<1xf32>
}
