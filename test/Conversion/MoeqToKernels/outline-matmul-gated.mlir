// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// Gate and up alternate by 64 columns of the accumulator: of each 128 there is
// one map to 64 columns of C, which has half as many.
// A constant above the epilogue is no parameter.
// CHECK-LABEL: llvm.func @up_grouped_matmul(
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         consumers(2,
// CHECK:         moeq_gpu.alloc : !moeq_gpu.tile<64x64xbf16>
// CHECK:         %[[GROUP:.*]], %{{.*}}, %{{.*}}, %[[N:.*]] = moeq_gpu.schedule.tile
// CHECK:         %[[ACC:.*]] = moeq_gpu.mma_wait pending 0
// CHECK:         %[[HALF:.*]] = arith.divui %[[N]], %c2_i32
// CHECK:         %[[GATE:.*]] = moeq_gpu.slice %[[ACC]][0, 0] : <64x256xf32> -> <64x64xf32>
// CHECK-NEXT:    %[[UP:.*]] = moeq_gpu.slice %[[ACC]][0, 64] : <64x256xf32> -> <64x64xf32>
// CHECK:         %[[GATE_SCALE:.*]] = moeq_gpu.load %{{.*}}[%[[GROUP]], %[[N]]] {{.*}} : <1x64xf32>
// CHECK-NEXT:    %[[FURTHER:.*]] = arith.addi %[[N]], %c64_i32
// CHECK-NEXT:    %[[UP_SCALE:.*]] = moeq_gpu.load %{{.*}}[%[[GROUP]], %[[FURTHER]]] {{.*}} : <1x64xf32>
// CHECK:         moeq_gpu.map(%[[GATE]], %[[UP]], %{{.*}}, %[[GATE_SCALE]], %[[UP_SCALE]] :
// CHECK-NEXT:    ^bb0(%[[G:.*]]: f32, %[[U:.*]]: f32, %[[A:.*]]: f32, %[[SG:.*]]: f32, %[[SU:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:      %[[FG:.*]] = arith.mulf %[[A]], %[[SG]] : f32
// CHECK-NEXT:      %[[SCALED:.*]] = arith.mulf %[[G]], %[[FG]] : f32
// CHECK-NEXT:      %[[FU:.*]] = arith.mulf %[[A]], %[[SU]] : f32
// CHECK-NEXT:      %[[SCALED_UP:.*]] = arith.mulf %[[U]], %[[FU]] : f32
// CHECK-NEXT:      arith.maximumf %[[SCALED]], %[[ZERO]] : f32
// CHECK:         moeq_gpu.store %{{.*}}[%{{.*}}, %[[HALF]]] pitch(%c512_i64) row_end(%{{.*}}) : <64x64xbf16>
// CHECK:         moeq_gpu.slice %[[ACC]][0, 128]
// CHECK-NEXT:    moeq_gpu.slice %[[ACC]][0, 192]
// CHECK-LABEL: func.func @up(
// CHECK:         moeq_gpu.encode_tensor_map %{{.*}} : memref<?x512xbf16> -> <64x64xbf16>
func.func @up(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x1xf32>,
              %w: memref<8x1024x512xf8E4M3FN>, %sw: memref<8x1024x1xf32>,
              %o: memref<9xi32>, %c: memref<?x512xbf16>) {
  %zero = arith.constant 0.0 : f32
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x1xf32> as !a)
    rhs(%w, %sw : memref<8x1024x512xf8E4M3FN>, memref<8x1024x1xf32> as !a)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x512xbf16>) accumulate(<fast>)
    config(<tile = [128, 256]>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      %0 = arith.maximumf %gate, %zero : f32
      %1 = arith.mulf %0, %up : f32
      %2 = arith.truncf %1 : f32 to bf16
      moeq.yield %2 : bf16
  }
  return
}

// -----

!b = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// Weights as the first operand: gate and up are the two waves of a consumer.
// CHECK-LABEL: llvm.func @swapped_grouped_matmul(
// CHECK:         case 1 {
// CHECK-COUNT-2:   moeq_gpu.load {{.*}} : <64x1xf32>
// CHECK:           %[[GATE:.*]] = moeq_gpu.slice %[[ACC:.*]][0, 0] : <128x8xf32> -> <64x8xf32>
// CHECK-NEXT:      %[[UP:.*]] = moeq_gpu.slice %[[ACC]][64, 0] : <128x8xf32> -> <64x8xf32>
// CHECK:           moeq_gpu.map(%[[GATE]], %[[UP]],
// CHECK:           moeq_gpu.store_transposed {{.*}} pitch(%c512_i64)
// CHECK-NOT:       moeq_gpu.store_transposed
// CHECK:         case 2 {
func.func @swapped(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x1xf32>,
                   %w: memref<8x1024x512xf8E4M3FN>, %sw: memref<8x1024x1xf32>,
                   %o: memref<9xi32>, %c: memref<?x512xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x512xf8E4M3FN>, memref<?x1xf32> as !b)
    rhs(%w, %sw : memref<8x1024x512xf8E4M3FN>, memref<8x1024x1xf32> as !b)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x512xbf16>) accumulate(<fast>)
    config(<tile = [16, 256], swap_ab = true>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      %0 = arith.mulf %gate, %up : f32
      %1 = arith.truncf %0 : f32 to bf16
      moeq.yield %1 : bf16
  }
  return
}
