// RUN: moeq-opt %s -split-input-file -moeq-fuse | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-fuse --remarks-filter=moeq-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: moeq-opt %moeq_source/examples/mixtral-tiny-fp8.mlir -moeq-decompose -moeq-fuse | FileCheck %s --check-prefix=LAYER

// LAYER:      moeq.route
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: %[[GROUP:.*]]:3 = moeq.group
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: moeq.quantize {{.*}} rows(%[[GROUP]]#0 : tensor<?xi32>)
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: moeq.grouped_matmul
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: moeq.act_quant {{.*}} intermediate_round(bf16)
// LAYER-NEXT: tensor.empty
// LAYER-NEXT: moeq.grouped_matmul
// LAYER-NEXT: moeq.combine
// LAYER-NEXT: return

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @quantize_of_gather(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x64xbf16>, %[[ROWS:[^:]*]]: tensor<?xi32>, %[[OUT:[^:]*]]: tensor<?x64x!scaled>
// CHECK-NEXT:  %[[Q:.*]] = moeq.quantize input(%[[X]] : {{.*}}) rows(%[[ROWS]] : {{.*}}) outs(%[[OUT]] : {{.*}}) recipe(<deepgemm>)
// CHECK-NEXT:  return %[[Q]]
// REMARK: [Passed] quantize-of-gather | Category:moeq-fuse
func.func @quantize_of_gather(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>,
                              %out: tensor<?x64x!act>, %s: index) -> tensor<?x64x!act> {
  %init = tensor.empty(%s) : tensor<?x64xbf16>
  %g = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %q = moeq.quantize input(%g : tensor<?x64xbf16>) outs(%out : tensor<?x64x!act>)
      recipe(<deepgemm>) -> tensor<?x64x!act>
  return %q : tensor<?x64x!act>
}

// Dropped rows keep an init that somebody may read.

// CHECK-LABEL: func @gather_into_defined_rows(
// CHECK:       moeq.gather
// CHECK:       moeq.quantize
func.func @gather_into_defined_rows(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>,
                                    %out: tensor<?x64x!act>, %init: tensor<?x64xbf16>)
    -> tensor<?x64x!act> {
  %g = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %q = moeq.quantize input(%g : tensor<?x64xbf16>) outs(%out : tensor<?x64x!act>)
      recipe(<deepgemm>) -> tensor<?x64x!act>
  return %q : tensor<?x64x!act>
}

// CHECK-LABEL: func @gather_used_twice(
// CHECK:       moeq.gather
// CHECK:       moeq.quantize
func.func @gather_used_twice(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %out: tensor<?x64x!act>,
                             %s: index) -> (tensor<?x64xbf16>, tensor<?x64x!act>) {
  %init = tensor.empty(%s) : tensor<?x64xbf16>
  %g = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %q = moeq.quantize input(%g : tensor<?x64xbf16>) outs(%out : tensor<?x64x!act>)
      recipe(<deepgemm>) -> tensor<?x64x!act>
  return %g, %q : tensor<?x64xbf16>, tensor<?x64x!act>
}

// CHECK-LABEL: func @gather_twice(
// CHECK:       moeq.gather
// CHECK:       moeq.quantize {{.*}} rows(
func.func @gather_twice(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %out: tensor<?x64x!act>,
                        %s: index) -> tensor<?x64x!act> {
  %init = tensor.empty(%s) : tensor<?x64xbf16>
  %g = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %q = moeq.quantize input(%g : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%out : tensor<?x64x!act>) recipe(<deepgemm>) -> tensor<?x64x!act>
  return %q : tensor<?x64x!act>
}

// The size of a result is no use of it.

// CHECK-LABEL: func @size_of_gather(
// CHECK-NOT:   moeq.gather
// CHECK:       moeq.quantize {{.*}} rows(
func.func @size_of_gather(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %s: index)
    -> tensor<?x64x!act> {
  %c0 = arith.constant 0 : index
  %init = tensor.empty(%s) : tensor<?x64xbf16>
  %g = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %dim = tensor.dim %g, %c0 : tensor<?x64xbf16>
  %out = tensor.empty(%dim) : tensor<?x64x!act>
  %q = moeq.quantize input(%g : tensor<?x64xbf16>) outs(%out : tensor<?x64x!act>)
      recipe(<deepgemm>) -> tensor<?x64x!act>
  return %q : tensor<?x64x!act>
}

// -----

!tensorwise = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>

// CHECK-LABEL: func @blocks_span_rows(
// CHECK:       moeq.gather
// CHECK:       moeq.quantize
func.func @blocks_span_rows(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>,
                            %out: tensor<?x64x!tensorwise>, %s: index) -> tensor<?x64x!tensorwise> {
  %init = tensor.empty(%s) : tensor<?x64xbf16>
  %g = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %q = moeq.quantize input(%g : tensor<?x64xbf16>) outs(%out : tensor<?x64x!tensorwise>)
      recipe(<te>) -> tensor<?x64x!tensorwise>
  return %q : tensor<?x64x!tensorwise>
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: func @gather_of_quantize(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x64xbf16>, %[[ROWS:[^:]*]]: tensor<?xi32>, %[[OUT:[^:]*]]: tensor<?x64x!scaled>
// CHECK-NEXT:  %[[Q:.*]] = moeq.quantize input(%[[X]] : {{.*}}) rows(%[[ROWS]] : {{.*}}) outs(%[[OUT]] : {{.*}}) recipe(<te_mx>)
// CHECK-NEXT:  return %[[Q]]
// REMARK: [Passed] gather-of-quantize | Category:moeq-fuse
func.func @gather_of_quantize(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>,
                              %out: tensor<?x64x!act>, %init: tensor<?x64x!act>)
    -> tensor<?x64x!act> {
  %q = moeq.quantize input(%x : tensor<?x64xbf16>) outs(%init : tensor<?x64x!act>)
      recipe(<te_mx>) -> tensor<?x64x!act>
  %g = moeq.gather input(%q : tensor<?x64x!act>) rows(%rows : tensor<?xi32>)
      outs(%out : tensor<?x64x!act>) -> tensor<?x64x!act>
  return %g : tensor<?x64x!act>
}

// CHECK-LABEL: func @gather_of_quantized_rows(
// CHECK:       moeq.quantize
// CHECK:       moeq.gather
func.func @gather_of_quantized_rows(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>,
                                    %out: tensor<?x64x!act>, %init: tensor<?x64x!act>)
    -> tensor<?x64x!act> {
  %q = moeq.quantize input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%init : tensor<?x64x!act>) recipe(<te_mx>) -> tensor<?x64x!act>
  %g = moeq.gather input(%q : tensor<?x64x!act>) rows(%rows : tensor<?xi32>)
      outs(%out : tensor<?x64x!act>) -> tensor<?x64x!act>
  return %g : tensor<?x64x!act>
}

// -----

!both = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @act_quant_bf16(
// CHECK-SAME:      %[[H:[^:]*]]: tensor<?x512xbf16>, %[[W:[^:]*]]: tensor<?xf32>, %[[OUT:[^:]*]]: tensor<?x256x!scaled>
// CHECK-NEXT:  %[[Q:.*]] = moeq.act_quant input(%[[H]] : {{.*}}) row_weight(%[[W]] : {{.*}}) outs(%[[OUT]] : {{.*}}) function(clamped_swiglu) gate_layout(interleaved) exp(approx) limit(7.000000e+00) alpha(1.702000e+00) intermediate_round(bf16) recipe(<deepgemm>)
// CHECK-NEXT:  return %[[Q]]
// REMARK: [Passed] quantize-of-activate | Category:moeq-fuse
func.func @act_quant_bf16(%h: tensor<?x512xbf16>, %w: tensor<?xf32>, %out: tensor<?x256x!act>,
                          %init: tensor<?x256xbf16>) -> tensor<?x256x!act> {
  %a = moeq.activate input(%h : tensor<?x512xbf16>) row_weight(%w : tensor<?xf32>)
      outs(%init : tensor<?x256xbf16>) function(clamped_swiglu) gate_layout(interleaved)
      exp(approx) limit(7.0) alpha(1.702) -> tensor<?x256xbf16>
  %q = moeq.quantize input(%a : tensor<?x256xbf16>) outs(%out : tensor<?x256x!act>)
      recipe(<deepgemm>) -> tensor<?x256x!act>
  return %q : tensor<?x256x!act>
}

// With groups and a columnwise result.
// CHECK-LABEL: func @act_quant_both(
// CHECK-SAME:      %[[H:[^:]*]]: tensor<?x512xbf16>, %[[O:[^:]*]]: tensor<9xi32>
// CHECK:       moeq.act_quant input(%[[H]] : {{.*}}) offsets(%[[O]] : {{.*}}) outs(%{{.*}} : {{.*}}) columnwise(%{{.*}} : {{.*}}) function(swiglu) intermediate_round(bf16)
func.func @act_quant_both(%h: tensor<?x512xbf16>, %o: tensor<9xi32>, %out: tensor<?x256x!both>, %column: tensor<256x?x!both>,
                          %init: tensor<?x256xbf16>) -> (tensor<?x256x!both>, tensor<256x?x!both>) {
  %a = moeq.activate input(%h : tensor<?x512xbf16>) outs(%init : tensor<?x256xbf16>)
      function(swiglu) -> tensor<?x256xbf16>
  %q:2 = moeq.quantize input(%a : tensor<?x256xbf16>) offsets(%o : tensor<9xi32>) outs(%out : tensor<?x256x!both>)
      columnwise(%column : tensor<256x?x!both>) recipe(<te_mx>) -> tensor<?x256x!both>, tensor<256x?x!both>
  return %q#0, %q#1 : tensor<?x256x!both>, tensor<256x?x!both>
}

// CHECK-LABEL: func @act_quant_f16(
// CHECK:       moeq.act_quant {{.*}} function(relu) intermediate_round(f16)
func.func @act_quant_f16(%h: tensor<?x256xbf16>, %out: tensor<?x256x!act>,
                         %init: tensor<?x256xf16>) -> tensor<?x256x!act> {
  %a = moeq.activate input(%h : tensor<?x256xbf16>) outs(%init : tensor<?x256xf16>)
      function(relu) -> tensor<?x256xf16>
  %q = moeq.quantize input(%a : tensor<?x256xf16>) outs(%out : tensor<?x256x!act>)
      recipe(<deepgemm>) -> tensor<?x256x!act>
  return %q : tensor<?x256x!act>
}

// CHECK-LABEL: func @act_quant_f32(
// CHECK:       moeq.act_quant {{.*}} function(silu) recipe
func.func @act_quant_f32(%h: tensor<?x256xbf16>, %out: tensor<?x256x!act>,
                         %init: tensor<?x256xf32>) -> tensor<?x256x!act> {
  %a = moeq.activate input(%h : tensor<?x256xbf16>) outs(%init : tensor<?x256xf32>)
      function(silu) -> tensor<?x256xf32>
  %q = moeq.quantize input(%a : tensor<?x256xf32>) outs(%out : tensor<?x256x!act>)
      recipe(<deepgemm>) -> tensor<?x256x!act>
  return %q : tensor<?x256x!act>
}

// CHECK-LABEL: func @activation_used_twice(
// CHECK:       moeq.activate
// CHECK:       moeq.quantize
func.func @activation_used_twice(%h: tensor<?x256xbf16>, %out: tensor<?x256x!act>,
                                 %init: tensor<?x256xf32>)
    -> (tensor<?x256xf32>, tensor<?x256x!act>) {
  %a = moeq.activate input(%h : tensor<?x256xbf16>) outs(%init : tensor<?x256xf32>)
      function(silu) -> tensor<?x256xf32>
  %q = moeq.quantize input(%a : tensor<?x256xf32>) outs(%out : tensor<?x256x!act>)
      recipe(<deepgemm>) -> tensor<?x256x!act>
  return %a, %q : tensor<?x256xf32>, tensor<?x256x!act>
}

// CHECK-LABEL: func @activation_of_rows(
// CHECK:       moeq.activate
// CHECK:       moeq.quantize
func.func @activation_of_rows(%h: tensor<?x256xbf16>, %rows: tensor<?xi32>,
                              %out: tensor<?x256x!act>, %init: tensor<?x256xf32>)
    -> tensor<?x256x!act> {
  %a = moeq.activate input(%h : tensor<?x256xbf16>) outs(%init : tensor<?x256xf32>)
      function(silu) -> tensor<?x256xf32>
  %q = moeq.quantize input(%a : tensor<?x256xf32>) rows(%rows : tensor<?xi32>)
      outs(%out : tensor<?x256x!act>) recipe(<deepgemm>) -> tensor<?x256x!act>
  return %q : tensor<?x256x!act>
}

// -----

!columnwise = !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f8E8M0FNU>

// CHECK-LABEL: func @columnwise(
// CHECK:       moeq.activate
// CHECK:       moeq.quantize
func.func @columnwise(%h: tensor<?x256xbf16>, %out: tensor<?x256x!columnwise>,
                      %init: tensor<?x256xf32>) -> tensor<?x256x!columnwise> {
  %a = moeq.activate input(%h : tensor<?x256xbf16>) outs(%init : tensor<?x256xf32>)
      function(silu) -> tensor<?x256xf32>
  %q = moeq.quantize input(%a : tensor<?x256xf32>) outs(%out : tensor<?x256x!columnwise>)
      recipe(<te_mx>) -> tensor<?x256x!columnwise>
  return %q : tensor<?x256x!columnwise>
}

// -----

// CHECK-LABEL: func @unused_group_results(
// CHECK:       moeq.group ids(%{{.*}} : tensor<?x2xi32>) outs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) padded_offsets(%{{.*}} : tensor<9xi32>) -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>, tensor<9xi32>
func.func @unused_group_results(%ids: tensor<?x2xi32>, %w: tensor<?x2xf32>, %r: tensor<?xi32>,
                                %s: tensor<?x2xi32>, %o: tensor<9xi32>, %p: tensor<9xi32>,
                                %sw: tensor<?xf32>) -> (tensor<9xi32>, tensor<9xi32>) {
  %g:5 = moeq.group ids(%ids : tensor<?x2xi32>) weights(%w : tensor<?x2xf32>)
      outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      padded_offsets(%p : tensor<9xi32>) sorted_weights(%sw : tensor<?xf32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>, tensor<9xi32>, tensor<?xf32>
  return %g#2, %g#3 : tensor<9xi32>, tensor<9xi32>
}

// CHECK-LABEL: func @used_group_results(
// CHECK:       moeq.group {{.*}} weights({{.*}} sorted_weights(%{{.*}} : tensor<?xf32>) -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>, tensor<?xf32>
func.func @used_group_results(%ids: tensor<?x2xi32>, %w: tensor<?x2xf32>, %r: tensor<?xi32>,
                              %s: tensor<?x2xi32>, %o: tensor<9xi32>, %p: tensor<9xi32>,
                              %sw: tensor<?xf32>) -> tensor<?xf32> {
  %g:5 = moeq.group ids(%ids : tensor<?x2xi32>) weights(%w : tensor<?x2xf32>)
      outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      padded_offsets(%p : tensor<9xi32>) sorted_weights(%sw : tensor<?xf32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>, tensor<9xi32>, tensor<?xf32>
  return %g#4 : tensor<?xf32>
}
