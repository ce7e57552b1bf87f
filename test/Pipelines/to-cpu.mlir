// RUN: moeq-opt %s --moeq-to-cpu | FileCheck %s
// RUN: moeq-opt %s --mlir-disable-threading --moeq-to-cpu | FileCheck %s

// One op of each kind, whole layers last: nothing but the LLVM dialect is left.

// CHECK-NOT: {{(moeq|moeq_gpu|arith|math|memref|scf|cf|func|linalg|tensor|bufferization)\.[a-z_]+ }}
// CHECK-NOT: unrealized_conversion_cast

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!mx = !moeq.scaled<f8E5M2, block = [32], scale = f8E8M0FNU>
!w4 = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>

// CHECK: llvm.func @quantize
func.func @quantize(%x: tensor<?x256xbf16>, %init: tensor<?x256x!mx>) -> tensor<?x256x!mx> {
  %0 = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%init : tensor<?x256x!mx>) recipe(<te_mx>)
      -> tensor<?x256x!mx>
  return %0 : tensor<?x256x!mx>
}

// CHECK: llvm.func @dequantize
func.func @dequantize(%x: tensor<?x64x!w4>, %init: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %0 = moeq.dequantize input(%x : tensor<?x64x!w4>) outs(%init : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %0 : tensor<?x64xf16>
}

// CHECK: llvm.func @route_group
func.func @route_group(%l: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>, %r: tensor<?xi32>,
                       %s: tensor<?x2xi32>, %o: tensor<9xi32>)
    -> (tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>) {
  %0:2 = moeq.route logits(%l : tensor<?x8xf32>) outs(%i, %w : tensor<?x2xi32>, tensor<?x2xf32>)
      -> tensor<?x2xi32>, tensor<?x2xf32>
  %1:3 = moeq.group ids(%0#0 : tensor<?x2xi32>) outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
  return %1#0, %1#1, %1#2 : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
}

// CHECK: llvm.func @gather_combine
func.func @gather_combine(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %slots: tensor<?x2xi32>,
                          %g: tensor<?x64xbf16>, %y: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>) outs(%g : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  %1 = moeq.combine input(%0 : tensor<?x64xbf16>) slots(%slots : tensor<?x2xi32>) outs(%y : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  return %1 : tensor<?x64xbf16>
}

// CHECK: llvm.func @activate
func.func @activate(%x: tensor<?x256xbf16>, %y: tensor<?x128xbf16>, %q: tensor<?x128x!a>)
    -> (tensor<?x128xbf16>, tensor<?x128x!a>) {
  %0 = moeq.activate input(%x : tensor<?x256xbf16>) outs(%y : tensor<?x128xbf16>) function(geglu)
      -> tensor<?x128xbf16>
  %1 = moeq.act_quant input(%x : tensor<?x256xbf16>) outs(%q : tensor<?x128x!a>) function(swiglu)
      intermediate_round(bf16) recipe(<deepgemm>) -> tensor<?x128x!a>
  return %0, %1 : tensor<?x128xbf16>, tensor<?x128x!a>
}

// What an epilogue of a user may hold.
// CHECK: llvm.func @matmul
func.func @matmul(%a: tensor<?x256x!a>, %b: tensor<128x256x!w>, %c: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<128x256x!w>) outs(%c : tensor<?x128xbf16>)
      epilogue {
    ^bb0(%acc: f32, %row: index, %col: index):
      %0 = math.tanh %acc : f32
      %1 = math.erf %0 : f32
      %2 = arith.truncf %1 : f32 to bf16
      moeq.yield %2 : bf16
  } -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// CHECK: llvm.func @grouped_matmul
func.func @grouped_matmul(%a: tensor<?x64xbf16>, %b: tensor<8x128x64x!w4>, %o: tensor<9xi32>,
                          %c: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%b : tensor<8x128x64x!w4>) offsets(%o : tensor<9xi32>)
      outs(%c : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  return %0 : tensor<?x128xbf16>
}

// CHECK: llvm.func @constant
func.func @constant() -> tensor<1x32x!mx> {
  %q = arith.constant dense<1.0> : tensor<1x32xf8E5M2>
  %s = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
  %0 = moeq.pack %q, %s : tensor<1x32xf8E5M2>, tensor<1x1xf8E8M0FNU> -> tensor<1x32x!mx>
  return %0 : tensor<1x32x!mx>
}

// CHECK: llvm.func @layer
func.func @layer(%x: tensor<?x256xbf16>, %l: tensor<?x8xf32>, %w13: tensor<8x256x256x!w>,
                 %w2: tensor<8x256x128x!w>, %init: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %0 = moeq.experts hidden(%x : tensor<?x256xbf16>) logits(%l : tensor<?x8xf32>)
      w13(%w13 : tensor<8x256x256x!w>) w2(%w2 : tensor<8x256x128x!w>) outs(%init : tensor<?x256xbf16>)
      top_k(2) function(swiglu) quantize(<deepgemm> to !a) -> tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}
