// RUN: moeq-opt %s -split-input-file -moeq-decompose -canonicalize -cse | FileCheck %s

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK: #[[$SLOTS:.*]] = affine_map<()[s0] -> (s0 * 2)>
// CHECK-LABEL: func @quantized(
// CHECK-SAME:      %[[X:.*]]: tensor<?x64xbf16>, %[[LOGITS:.*]]: tensor<?x8xf32>, %[[W13:.*]]: tensor<8x256x64x!scaled>, %[[W2:.*]]: tensor<8x64x128x!scaled>, %[[OUT:.*]]: tensor<?x64xbf16>
// CHECK:       %[[T:.*]] = tensor.dim %[[X]]
// CHECK:       %[[S:.*]] = affine.apply #[[$SLOTS]]()[%[[T]]]
// CHECK:       %[[ROUTE:.*]]:2 = moeq.route logits(%[[LOGITS]]
// CHECK-SAME:      outs(%{{.*}}, %{{.*}} : tensor<?x2xi32>, tensor<?x2xf32>) renormalize
// CHECK:       %[[ROWS:.*]] = tensor.empty(%[[S]]) : tensor<?xi32>
// CHECK:       %[[GROUP:.*]]:3 = moeq.group ids(%[[ROUTE]]#0 : tensor<?x2xi32>) outs(%[[ROWS]],
// CHECK-SAME:      : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
// CHECK-NOT:   sorted_weights
// CHECK:       %[[GATHER:.*]] = moeq.gather input(%[[X]] : tensor<?x64xbf16>) rows(%[[GROUP]]#0
// CHECK:       %[[QINIT:.*]] = tensor.empty(%[[S]]) : tensor<?x64x!scaled>
// CHECK:       %[[Q:.*]] = moeq.quantize input(%[[GATHER]] : {{.*}}) outs(%[[QINIT]] : {{.*}}) recipe(<vllm_token>)
// CHECK:       %[[UP:.*]] = moeq.grouped_matmul lhs(%[[Q]] : {{.*}}) rhs(%[[W13]] : {{.*}}) offsets(%[[GROUP]]#2 : {{.*}}) outs(%{{.*}} : tensor<?x256xbf16>) accumulate(<fast>)
// CHECK:       %[[ACT:.*]] = moeq.activate input(%[[UP]] : {{.*}}) outs(%{{.*}} : tensor<?x128xbf16>) function(swiglu)
// CHECK:       %[[Q2:.*]] = moeq.quantize input(%[[ACT]] : {{.*}}) outs(%{{.*}} : tensor<?x128x!scaled>) recipe(<vllm_token>)
// CHECK:       %[[DOWN:.*]] = moeq.grouped_matmul lhs(%[[Q2]] : {{.*}}) rhs(%[[W2]] : {{.*}}) offsets(%[[GROUP]]#2 : {{.*}}) outs(%{{.*}} : tensor<?x64xbf16>) accumulate(<fast>)
// CHECK:       %[[Y:.*]] = moeq.combine input(%[[DOWN]] : {{.*}}) slots(%[[GROUP]]#1 : {{.*}}) weights(%[[ROUTE]]#1 : {{.*}}) outs(%[[OUT]] :
// CHECK:       return %[[Y]]
func.func @quantized(%x: tensor<?x64xbf16>, %logits: tensor<?x8xf32>, %w13: tensor<8x256x64x!act>,
                     %w2: tensor<8x64x128x!act>, %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%logits : tensor<?x8xf32>)
      w13(%w13 : tensor<8x256x64x!act>) w2(%w2 : tensor<8x64x128x!act>)
      outs(%out : tensor<?x64xbf16>) top_k(2) renormalize function(swiglu)
      quantize(<vllm_token> to !act) accumulate(<fast>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// Without quantization the activation keeps the type of the hidden states, and the
// router's options reach moeq.route.

// CHECK-LABEL: func @plain(
// CHECK-NOT:   quantize
// CHECK:       moeq.route {{.*}} bias(%{{.*}} : tensor<8xf32>)
// CHECK-SAME:      score(sigmoid) renormalize scale(2.500000e+00) n_group(4) topk_group(2) group_score(top2_sum)
// CHECK:       moeq.gather {{.*}} -> tensor<15x64xf16>
// CHECK:       moeq.grouped_matmul {{.*}} -> tensor<15x128xf16>
// CHECK:       moeq.activate {{.*}} function(gelu) exp(approx) -> tensor<15x128xf16>
// CHECK:       moeq.grouped_matmul {{.*}} -> tensor<15x64xf16>
// CHECK:       moeq.combine {{.*}} -> tensor<5x64xf32>
func.func @plain(%x: tensor<5x64xf16>, %logits: tensor<5x8xf32>, %w13: tensor<8x128x64xf16>,
                 %w2: tensor<8x64x128xf16>, %bias: tensor<8xf32>, %out: tensor<5x64xf32>)
    -> tensor<5x64xf32> {
  %y = moeq.experts hidden(%x : tensor<5x64xf16>) logits(%logits : tensor<5x8xf32>)
      w13(%w13 : tensor<8x128x64xf16>) w2(%w2 : tensor<8x64x128xf16>)
      router_bias(%bias : tensor<8xf32>) outs(%out : tensor<5x64xf32>) top_k(3) score(sigmoid)
      renormalize scale(2.5) n_group(4) topk_group(2) group_score(top2_sum)
      function(gelu) exp(approx) -> tensor<5x64xf32>
  return %y : tensor<5x64xf32>
}

// -----

// Biases are added to the f32 accumulator, before the one rounding.

!weight = !moeq.scaled<i8, block = [*], scale = bf16>

// CHECK-LABEL: func @biases(
// CHECK-SAME:      %[[B13:[^:]*]]: tensor<4x256xf32>, %[[B2:[^:]*]]: tensor<4x64xf32>
// CHECK:       %[[UP:.*]] = moeq.grouped_matmul {{.*}} epilogue(%[[B13]] : tensor<4x256xf32>) maps [column] {
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[BIAS:.*]]: f32):
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[ACC]], %[[BIAS]] : f32
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK-NEXT:    moeq.yield %[[ROUNDED]] : bf16
// CHECK:       moeq.activate input(%[[UP]] {{.*}} function(clamped_swiglu) gate_layout(interleaved) limit(7.000000e+00) alpha(1.702000e+00)
// CHECK:       moeq.grouped_matmul {{.*}} epilogue(%[[B2]] : tensor<4x64xf32>) maps [column]
func.func @biases(%b13: tensor<4x256xf32>, %b2: tensor<4x64xf32>, %x: tensor<?x64xbf16>,
                  %logits: tensor<?x4xf32>, %w13: tensor<4x256x64x!weight>,
                  %w2: tensor<4x64x128x!weight>, %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%logits : tensor<?x4xf32>)
      w13(%w13 : tensor<4x256x64x!weight>) w2(%w2 : tensor<4x64x128x!weight>)
      bias13(%b13 : tensor<4x256xf32>) bias2(%b2 : tensor<4x64xf32>)
      outs(%out : tensor<?x64xbf16>) top_k(1) function(clamped_swiglu) gate_layout(interleaved)
      limit(7.0) alpha(1.702) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// f32 outputs are not rounded. Without intermediate rounding the activation is f32.

!act = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: func @no_rounding(
// CHECK:       moeq.grouped_matmul
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK-NEXT:    moeq.yield %[[SUM]] : f32
// CHECK:       moeq.activate {{.*}} -> tensor<?x128xf32>
func.func @no_rounding(%b13: tensor<4x128xf32>, %x: tensor<?x64xf32>,
                       %logits: tensor<?x4xf32>, %w13: tensor<4x128x64x!act>,
                       %w2: tensor<4x64x128x!act>, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%logits : tensor<?x4xf32>)
      w13(%w13 : tensor<4x128x64x!act>) w2(%w2 : tensor<4x64x128x!act>)
      bias13(%b13 : tensor<4x128xf32>) outs(%out : tensor<?x64xf32>) top_k(1) function(srelu)
      intermediate_round(none) quantize(<ocp> to !act) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func @round_f16(
// CHECK:       moeq.activate {{.*}} -> tensor<?x128xf16>
func.func @round_f16(%x: tensor<?x64xf32>, %logits: tensor<?x4xf32>, %w13: tensor<4x128x64x!act>,
                     %w2: tensor<4x64x128x!act>, %out: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%logits : tensor<?x4xf32>)
      w13(%w13 : tensor<4x128x64x!act>) w2(%w2 : tensor<4x64x128x!act>)
      outs(%out : tensor<?x64xf32>) top_k(1) function(srelu)
      intermediate_round(f16) quantize(<ocp> to !act) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// The router weight on the input multiplies the gathered rows, and nothing else.

!act = !moeq.scaled<i8, block = [*], scale = f32>

// CHECK-LABEL: func @weight_on_input(
// CHECK:       %[[ROUTE:.*]]:2 = moeq.route
// CHECK:       %[[GROUP:.*]]:4 = moeq.group ids(%[[ROUTE]]#0 : {{.*}}) weights(%[[ROUTE]]#1 : {{.*}}) {{.*}} sorted_weights(
// CHECK:       %[[GATHER:.*]] = moeq.gather
// CHECK:       %[[WEIGHTED:.*]] = moeq.activate input(%[[GATHER]] : {{.*}}) row_weight(%[[GROUP]]#3 : {{.*}}) {{.*}} function(identity) -> tensor<?x64xbf16>
// CHECK:       moeq.quantize input(%[[WEIGHTED]] :
// CHECK:       moeq.activate {{.*}} function(geglu) gate_layout(up_first)
// CHECK:       moeq.combine
// CHECK-NOT:   weights(
// CHECK-SAME:      -> tensor<?x64xbf16>
func.func @weight_on_input(%x: tensor<?x64xbf16>, %logits: tensor<?x16xbf16>,
                           %w13: tensor<16x256x64x!act>, %w2: tensor<16x64x128x!act>,
                           %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%logits : tensor<?x16xbf16>)
      w13(%w13 : tensor<16x256x64x!act>) w2(%w2 : tensor<16x64x128x!act>)
      outs(%out : tensor<?x64xbf16>) top_k(1) score(sigmoid) function(geglu) gate_layout(up_first)
      quantize(<int8_sym> to !act) weight_on_input -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// Shared experts 6 and 7 are slots 3 and 4 of each token, with weight 1.

// CHECK: #[[$SLOTS:.*]] = affine_map<()[s0] -> (s0 * 5)>
// CHECK-LABEL: func @shared(
// CHECK-DAG:   %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:   %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:   %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:       affine.apply #[[$SLOTS]]
// CHECK:       %[[ROUTE:.*]]:2 = moeq.route {{.*}} -> tensor<?x3xi32>, tensor<?x3xf32>
// CHECK:       %[[SLOTS:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<?x5xi32>, tensor<?x5xf32>)
// CHECK:         %[[TOKEN:.*]] = linalg.index 0
// CHECK:         %[[SLOT:.*]] = linalg.index 1
// CHECK:         %[[ROUTED:.*]] = arith.cmpi ult, %[[SLOT]], %[[C3]]
// CHECK:         %[[SOURCE:.*]] = arith.minui %[[SLOT]], %[[C2]]
// CHECK:         %[[ID:.*]] = tensor.extract %[[ROUTE]]#0[%[[TOKEN]], %[[SOURCE]]]
// CHECK:         %[[WEIGHT:.*]] = tensor.extract %[[ROUTE]]#1[%[[TOKEN]], %[[SOURCE]]]
// CHECK:         %[[SHARED:.*]] = arith.addi %[[SLOT]], %[[C3]]
// CHECK:         %[[SHARED_ID:.*]] = arith.index_cast %[[SHARED]]
// CHECK:         arith.select %[[ROUTED]], %[[ID]], %[[SHARED_ID]]
// CHECK:         arith.select %[[ROUTED]], %[[WEIGHT]], %[[ONE]]
// CHECK:       moeq.group ids(%[[SLOTS]]#0 : tensor<?x5xi32>)
// CHECK-SAME:      tensor<9xi32>
// CHECK:       moeq.combine {{.*}} weights(%[[SLOTS]]#1 : tensor<?x5xf32>)
func.func @shared(%x: tensor<?x64xf16>, %logits: tensor<?x6xf32>, %w13: tensor<8x128x64xf16>,
                  %w2: tensor<8x64x128xf16>, %out: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %y = moeq.experts hidden(%x : tensor<?x64xf16>) logits(%logits : tensor<?x6xf32>)
      w13(%w13 : tensor<8x128x64xf16>) w2(%w2 : tensor<8x64x128xf16>)
      outs(%out : tensor<?x64xf16>) top_k(3) function(silu) shared_experts(2) -> tensor<?x64xf16>
  return %y : tensor<?x64xf16>
}

// -----

// Rows that the expert map drops are zeros under scales that span rows, and
// undefined otherwise.

!tensorwise = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>
!rowwise = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @mapped_tensorwise(
// CHECK:       moeq.group ids({{.*}}) expert_map(%{{.*}} : tensor<16xi32>)
// CHECK:       %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<?x64xbf16>
// CHECK:       moeq.gather {{.*}} outs(%[[ZEROS]] :
// CHECK:       %[[ZEROS2:.*]] = linalg.fill {{.*}} -> tensor<?x256xbf16>
// CHECK:       moeq.grouped_matmul {{.*}} outs(%[[ZEROS2]] :
// CHECK-NOT:   linalg.fill
// CHECK:       return
func.func @mapped_tensorwise(%x: tensor<?x64xbf16>, %logits: tensor<?x16xf32>,
                             %w13: tensor<8x256x64x!tensorwise>,
                             %w2: tensor<8x64x128x!tensorwise>, %map: tensor<16xi32>,
                             %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%logits : tensor<?x16xf32>)
      w13(%w13 : tensor<8x256x64x!tensorwise>) w2(%w2 : tensor<8x64x128x!tensorwise>)
      expert_map(%map : tensor<16xi32>) outs(%out : tensor<?x64xbf16>) top_k(4)
      function(swiglu) quantize(<te> to !tensorwise) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: func @mapped_rowwise(
// CHECK:       moeq.group ids({{.*}}) expert_map(%{{.*}} : tensor<16xi32>)
// CHECK-NOT:   linalg.fill
// CHECK:       return
func.func @mapped_rowwise(%x: tensor<?x64xbf16>, %logits: tensor<?x16xf32>,
                          %w13: tensor<8x256x64x!rowwise>, %w2: tensor<8x64x128x!rowwise>,
                          %map: tensor<16xi32>, %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%logits : tensor<?x16xf32>)
      w13(%w13 : tensor<8x256x64x!rowwise>) w2(%w2 : tensor<8x64x128x!rowwise>)
      expert_map(%map : tensor<16xi32>) outs(%out : tensor<?x64xbf16>) top_k(4)
      function(swiglu) quantize(<deepgemm> to !rowwise) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// -----

// Dynamic experts and features.

// CHECK-LABEL: func @dynamic(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x?xbf16>, %{{[^:]*}}: tensor<?x?xf32>, %[[W13:[^:]*]]: tensor<?x?x?xbf16>
// CHECK-DAG:   %[[E:.*]] = tensor.dim %[[W13]], %c0
// CHECK-DAG:   %[[E1:.*]] = affine.apply #{{.*}}()[%[[E]]]
// CHECK:       tensor.empty(%[[E1]]) : tensor<?xi32>
// CHECK:       moeq.grouped_matmul
func.func @dynamic(%x: tensor<?x?xbf16>, %logits: tensor<?x?xf32>, %w13: tensor<?x?x?xbf16>,
                   %w2: tensor<?x?x?xbf16>, %out: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %y = moeq.experts hidden(%x : tensor<?x?xbf16>) logits(%logits : tensor<?x?xf32>)
      w13(%w13 : tensor<?x?x?xbf16>) w2(%w2 : tensor<?x?x?xbf16>)
      outs(%out : tensor<?x?xbf16>) top_k(2) function(swiglu) -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
