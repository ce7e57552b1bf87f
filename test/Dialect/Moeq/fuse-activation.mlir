// RUN: moeq-opt %s -split-input-file -moeq-fuse -canonicalize | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-fuse --remarks-filter=moeq-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The epilogue rounds to the type of the matmul, as it did, then activates.

// CHECK-LABEL: func @plain(
// CHECK:       moeq.matmul {{.*}} outs(%{{.*}} : tensor<?x256xf32>) epilogue(%{{.*}} : tensor<?xf32>) maps [row] {
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[W:.*]]: f32):
// CHECK:         %[[ROUNDED:.*]] = arith.truncf %[[ACC]] : f32 to bf16
// CHECK:         %[[X:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK:         arith.mulf %{{.*}}, %[[W]] : f32
// CHECK:         moeq.yield
// CHECK-NOT:   moeq.activate
// REMARK: [Passed] activate-of-matmul | Category:moeq-fuse
func.func @plain(%a: tensor<?x32xbf16>, %b: tensor<256x32xbf16>, %w: tensor<?xf32>,
                 %init: tensor<?x256xbf16>, %out: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<256x32xbf16>)
      outs(%init : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = moeq.activate input(%c : tensor<?x256xbf16>) row_weight(%w : tensor<?xf32>)
      outs(%out : tensor<?x256xf32>) function(relu) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// -----

// Both halves go through the bias, each with its own columns.

// CHECK-LABEL: func @gated(
// CHECK:       moeq.grouped_matmul {{.*}} outs(%{{.*}} : tensor<?x128xf16>) epilogue gated(%{{.*}} : tensor<4x256xf32>) maps [column] {
// CHECK-NEXT:  ^bb0(%[[G:.*]]: f32, %[[U:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[BG:.*]]: f32, %[[BU:.*]]: f32):
// CHECK:         arith.addf %[[G]], %[[BG]] : f32
// CHECK:         arith.addf %[[U]], %[[BU]] : f32
// CHECK:         moeq.yield %{{.*}} : f16
// CHECK-NOT:   moeq.activate
// REMARK: [Passed] activate-of-matmul | Category:moeq-fuse
func.func @gated(%a: tensor<?x32xbf16>, %b: tensor<4x256x32xbf16>, %o: tensor<5xi32>,
                 %bias: tensor<4x256xf32>, %s: index, %out: tensor<?x128xf16>) -> tensor<?x128xf16> {
  %init = tensor.empty(%s) : tensor<?x256xbf16>
  %c = moeq.grouped_matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<4x256x32xbf16>)
      offsets(%o : tensor<5xi32>) outs(%init : tensor<?x256xbf16>)
      epilogue(%bias : tensor<4x256xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %column: index, %e: f32):
      %0 = arith.addf %acc, %e : f32
      %1 = arith.truncf %0 : f32 to bf16
      moeq.yield %1 : bf16
  } -> tensor<?x256xbf16>
  %y = moeq.activate input(%c : tensor<?x256xbf16>) outs(%out : tensor<?x128xf16>)
      function(swiglu) gate_layout(interleaved_64) -> tensor<?x128xf16>
  return %y : tensor<?x128xf16>
}

// -----

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// A gated act_quant writes the rows that it quantizes; one of a plain function
// stays, and so do quantize and activate become one.

// CHECK-LABEL: func @act_quant(
// CHECK:       %[[C:.*]] = moeq.matmul {{.*}} outs(%{{.*}} : tensor<?x128xbf16>) epilogue gated {
// CHECK:       moeq.quantize input(%[[C]] : tensor<?x128xbf16>) {{.*}} recipe(<vllm_token>)
// CHECK:       %[[D:.*]] = moeq.matmul {{.*}} outs(%{{.*}} : tensor<?x128xbf16>) -> tensor<?x128xbf16>
// CHECK:       moeq.act_quant input(%[[D]]
// REMARK: [Passed] act-quant-of-matmul | Category:moeq-fuse
func.func @act_quant(%a: tensor<?x32xbf16>, %b: tensor<256x32xbf16>, %b2: tensor<128x32xbf16>,
                     %init: tensor<?x256xf32>, %init2: tensor<?x128xbf16>, %out: tensor<?x128x!act>)
    -> (tensor<?x128x!act>, tensor<?x128x!act>) {
  %c = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<256x32xbf16>)
      outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = moeq.act_quant input(%c : tensor<?x256xf32>) outs(%out : tensor<?x128x!act>)
      function(geglu) gate_layout(interleaved_64) intermediate_round(bf16) recipe(<vllm_token>)
      -> tensor<?x128x!act>
  %d = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b2 : tensor<128x32xbf16>)
      outs(%init2 : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  %z = moeq.act_quant input(%d : tensor<?x128xbf16>) outs(%out : tensor<?x128x!act>)
      function(silu) intermediate_round(bf16) recipe(<vllm_token>) -> tensor<?x128x!act>
  return %y, %z : tensor<?x128x!act>, tensor<?x128x!act>
}

// -----

// Halves apart, another use, rows that somebody may read, an operand with two
// elements, or a gate behind a gate.

// CHECK-LABEL: func @apart(
// CHECK-COUNT-5: moeq.activate
func.func @apart(%a: tensor<?x32xbf16>, %b: tensor<256x32xbf16>, %bg: tensor<4x256x32xbf16>,
                 %o: tensor<5xi32>, %init: tensor<?x256xbf16>, %out: tensor<?x128xbf16>,
                 %r: tensor<?x256xbf16>, %narrow: tensor<?x64xbf16>)
    -> (tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x256xbf16>, tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x64xbf16>) {
  %c = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<256x32xbf16>)
      outs(%init : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = moeq.activate input(%c : tensor<?x256xbf16>) outs(%out : tensor<?x128xbf16>)
      function(swiglu) gate_layout(interleaved) -> tensor<?x128xbf16>
  %d = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<256x32xbf16>)
      outs(%init : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %z = moeq.activate input(%d : tensor<?x256xbf16>) outs(%out : tensor<?x128xbf16>)
      function(swiglu) gate_layout(interleaved_64) -> tensor<?x128xbf16>
  %e = moeq.grouped_matmul lhs(%a : tensor<?x32xbf16>) rhs(%bg : tensor<4x256x32xbf16>)
      offsets(%o : tensor<5xi32>) outs(%init : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %u = moeq.activate input(%e : tensor<?x256xbf16>) outs(%out : tensor<?x128xbf16>)
      function(swiglu) gate_layout(interleaved_64) -> tensor<?x128xbf16>
  %f = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<256x32xbf16>)
      outs(%init : tensor<?x256xbf16>) epilogue(%r : tensor<?x256xbf16>) maps [row_column] {
    ^bb0(%acc: f32, %row: index, %column: index, %x: bf16):
      moeq.yield %x : bf16
  } -> tensor<?x256xbf16>
  %v = moeq.activate input(%f : tensor<?x256xbf16>) outs(%out : tensor<?x128xbf16>)
      function(swiglu) gate_layout(interleaved_64) -> tensor<?x128xbf16>
  %g = moeq.matmul lhs(%a : tensor<?x32xbf16>) rhs(%b : tensor<256x32xbf16>)
      outs(%out : tensor<?x128xbf16>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      %x = arith.truncf %up : f32 to bf16
      moeq.yield %x : bf16
  } -> tensor<?x128xbf16>
  %w = moeq.activate input(%g : tensor<?x128xbf16>) outs(%narrow : tensor<?x64xbf16>)
      function(swiglu) gate_layout(interleaved_64) -> tensor<?x64xbf16>
  return %y, %z, %d, %u, %v, %w : tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x256xbf16>, tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x64xbf16>
}
