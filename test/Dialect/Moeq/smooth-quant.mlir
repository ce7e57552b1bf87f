// RUN: moeq-opt %s --moeq-smooth-quant=alpha=0.75 -split-input-file | FileCheck %s
// RUN: moeq-opt %s --moeq-smooth-quant="quantize=false power-of-two=true floor=0.001" -split-input-file | FileCheck %s --check-prefix=FLOAT
// RUN: moeq-opt %s --moeq-smooth-quant -split-input-file --remarks-filter=moeq-smooth-quant -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The weights are prepared by a function of their own; the layer takes what it returns.
// CHECK:       !scaled = !moeq.scaled<i8, block = [*], scale = f32>
// CHECK-LABEL: func @layer_prepare
// CHECK-SAME:    (%[[W13:.*]]: tensor<4x256x64xbf16> {moeq.name = "arg2.source"}, %[[W2:.*]]: tensor<4x64x128xbf16> {moeq.name = "w2.source"}, %[[BIAS:.*]]: tensor<4x256xf32> {moeq.name = "arg4.source"}, %[[A13:.*]]: tensor<1x64xf32> {moeq.name = "amax13"}, %[[A2:.*]]: tensor<4x128xf32> {moeq.name = "amax2"})
// CHECK-SAME:    -> (tensor<4x256x64x!scaled> {moeq.name = "arg2"}, tensor<4x64x128x!scaled> {moeq.name = "w2"}, tensor<1x64xf32> {moeq.name = "smooth"}, tensor<4x256xf32> {moeq.name = "arg4"})
// CHECK:         %[[S13:.*]] = moeq.smooth amax(%[[A13]] {{.*}} weight(%[[W13]] {{.*}} alpha(7.500000e-01) -> tensor<1x64xf32>
// CHECK:         %[[S2:.*]] = moeq.smooth amax(%[[A2]] {{.*}} weight(%[[W2]] {{.*}} alpha(7.500000e-01) -> tensor<4x128xf32>
// CHECK:         %[[INVERSE:.*]] = linalg.generic {{.*}} ins(%[[S13]]
// CHECK:           arith.divf
// (int8_sym has the parameters of vllm_group, whose name is printed.)
// Of w13 the up columns, which are the last half, lose the factors of the second matmul.
// CHECK:         %[[N13:.*]] = linalg.generic {{.*}} ins(%[[W13]], %[[S13]] : {{.*}} outs(%{{.*}} : tensor<4x256x64xf32>)
// CHECK:           %[[PRODUCT:.*]] = arith.mulf
// CHECK:           %[[EXPERT:.*]] = linalg.index 0
// CHECK:           linalg.index 1
// CHECK:           %[[ISUP:.*]] = arith.cmpi uge
// CHECK:           %[[FACTOR:.*]] = tensor.extract %[[S2]][%[[EXPERT]], %{{.*}}]
// CHECK:           %[[QUOTIENT:.*]] = arith.divf %[[PRODUCT]], %[[FACTOR]]
// CHECK:           arith.select %[[ISUP]], %[[QUOTIENT]], %[[PRODUCT]]
// CHECK:         %[[Q13:.*]] = moeq.quantize input(%[[N13]] {{.*}} recipe(<vllm_group>)
// CHECK:         %[[N2:.*]] = linalg.generic {{.*}} ins(%[[W2]], %[[S2]] :
// CHECK:         %[[Q2:.*]] = moeq.quantize input(%[[N2]]
// CHECK:         %[[B13:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] :
// CHECK:         return %[[Q13]], %[[Q2]], %[[INVERSE]], %[[B13]]

// CHECK-LABEL: func @layer(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xbf16>, %{{.*}}, %[[W13:.*]]: tensor<4x256x64x!scaled>, %{{.*}}: tensor<4x64x128x!scaled> {moeq.name = "w2"}, %{{.*}}: tensor<4x256xf32>, %{{.*}}, %[[SMOOTH:.*]]: tensor<1x64xf32> {moeq.name = "smooth"})
// CHECK:         %[[H:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SMOOTH]] :
// CHECK:           arith.mulf
// CHECK:           arith.truncf
// CHECK:         moeq.experts hidden(%[[H]] {{.*}} quantize(<vllm_group> to !scaled)

// FLOAT-LABEL: func @layer_prepare
// FLOAT-SAME:    -> (tensor<4x256x64xbf16> {moeq.name = "arg2"}, tensor<4x64x128xbf16> {moeq.name = "w2"},
// FLOAT:         moeq.smooth {{.*}} floor(1.000000e-03) power_of_two
// FLOAT-NOT:     moeq.quantize
// FLOAT-LABEL: func @layer(
// FLOAT-SAME:    tensor<4x256x64xbf16>
// FLOAT-NOT:     quantize(
func.func @layer(%x: tensor<?x64xbf16>, %l: tensor<?x4xf32>, %w13: tensor<4x256x64xbf16>,
    %w2: tensor<4x64x128xbf16> {moeq.name = "w2"}, %b: tensor<4x256xf32>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = moeq.experts hidden(%x : tensor<?x64xbf16>) logits(%l : tensor<?x4xf32>)
      w13(%w13 : tensor<4x256x64xbf16>) w2(%w2 : tensor<4x64x128xbf16>) bias13(%b : tensor<4x256xf32>)
      outs(%o : tensor<?x64xbf16>) top_k(2) function(swiglu) -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

// -----

// A function through which no factor passes: the second matmul's input stays as it is.
// REMARK: keeps the input of the second matmul: silu does not commute with a factor
// CHECK-LABEL: func @silu_prepare
// CHECK-SAME:    tensor<1x64xf32> {moeq.name = "amax13"}) ->
// CHECK:         moeq.smooth
// CHECK-NOT:     moeq.smooth
// CHECK:         moeq.quantize input(%arg1
// CHECK-LABEL: func @silu(
func.func @silu(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x128x64xf32>, %w2: tensor<4x64x128xf32>,
    %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>)
      w13(%w13 : tensor<4x128x64xf32>) w2(%w2 : tensor<4x64x128xf32>)
      outs(%o : tensor<?x64xf32>) top_k(2) function(silu) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

// All columns of w13 have a factor under relu.
// CHECK-LABEL: func @relu_prepare
// CHECK:         linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<4x128x64xf32>, tensor<1x64xf32>)
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK:           tensor.extract %{{.*}}[%{{.*}}, %[[COLUMN]]]
// CHECK-NOT:       arith.select
// CHECK:         moeq.quantize
func.func @relu(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x128x64xf32>, %w2: tensor<4x64x128xf32>,
    %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>)
      w13(%w13 : tensor<4x128x64xf32>) w2(%w2 : tensor<4x64x128xf32>)
      outs(%o : tensor<?x64xf32>) top_k(2) function(relu) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

// REMARK: keeps the layer: its weights are not of the type of its hidden states
// CHECK-NOT: prepare
// CHECK-LABEL: func @quantized(
!w = !moeq.scaled<i8, block = [*], scale = f32>
func.func @quantized(%x: tensor<?x64xf32>, %l: tensor<?x4xf32>, %w13: tensor<4x128x64x!w>, %w2: tensor<4x64x128x!w>,
    %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = moeq.experts hidden(%x : tensor<?x64xf32>) logits(%l : tensor<?x4xf32>)
      w13(%w13 : tensor<4x128x64x!w>) w2(%w2 : tensor<4x64x128x!w>)
      outs(%o : tensor<?x64xf32>) top_k(2) function(relu) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
