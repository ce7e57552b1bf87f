// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!map = !moeq_gpu.tensor_map<64x64xbf16>
!ring = !moeq_gpu.ring<4x[64x64xbf16, 8192xi8, 128xi8]>

// CHECK-LABEL: @registers
func.func @registers(%map: !map, %p: !llvm.ptr<1>, %ring: !ring, %c: !moeq_gpu.cursor, %i: i32) {
  // CHECK: moeq_gpu.ring.fill %{{.*}}[%{{.*}}] from(%{{.*}} at %{{.*}}, %{{.*}}) sources(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : <4x[64x64xbf16, 8192xi8, 128xi8]>
  moeq_gpu.ring.fill %ring[%c] from(%map at %i, %i) sources(%p, %p, %p, %p) : !ring, !map
  // CHECK: moeq_gpu.ring.wait %{{.*}}[%{{.*}}] : <4x[64x64xbf16, 8192xi8, 128xi8]> -> !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.vector<8192xi8>, !moeq_gpu.vector<128xi8>
  %b, %v, %z = moeq_gpu.ring.wait %ring[%c] : !ring -> !moeq_gpu.tile<64x64xbf16>, !moeq_gpu.vector<8192xi8>, !moeq_gpu.vector<128xi8>
  // CHECK: %[[W:.*]] = moeq_gpu.subvector %{{.*}}[%{{.*}}] : !moeq_gpu.vector<8192xi8> -> !moeq_gpu.vector<4096xi8>
  %w = moeq_gpu.subvector %v[%i] : !moeq_gpu.vector<8192xi8> -> !moeq_gpu.vector<4096xi8>
  // CHECK: %[[A:.*]] = moeq_gpu.dequant %[[W]] as i8 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
  %a = moeq_gpu.dequant %w as i8 : !moeq_gpu.vector<4096xi8> -> !moeq_gpu.operand<64x64xbf16>
  // CHECK: moeq_gpu.dequant %{{.*}} as i8 zeros(%{{.*}} : !moeq_gpu.vector<128xi8>) : !moeq_gpu.vector<8192xi8> -> !moeq_gpu.operand<128x64xbf16>
  %y = moeq_gpu.dequant %v as i8 zeros(%z : !moeq_gpu.vector<128xi8>) : !moeq_gpu.vector<8192xi8> -> !moeq_gpu.operand<128x64xbf16>
  // CHECK: %[[D:.*]] = moeq_gpu.mma_rs %[[A]], %{{.*}} : <64x64xbf16>, <64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  %d = moeq_gpu.mma_rs %a, %b : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  // CHECK: %[[E:.*]] = moeq_gpu.mma_rs %[[A]], %{{.*}}, %[[D]] :
  %e = moeq_gpu.mma_rs %a, %b, %d : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  // CHECK: moeq_gpu.mma_rs %[[A]], %{{.*}} part 0 of 2 : <64x64xbf16>, <64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  %half = moeq_gpu.mma_rs %a, %b part 0 of 2 : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  // CHECK: moeq_gpu.mma_wait pending 0(%[[E]] : !moeq_gpu.fragment<64x64xf32>) reading(%[[A]] : !moeq_gpu.operand<64x64xbf16>)
  %f = moeq_gpu.mma_wait pending 0(%e : !moeq_gpu.fragment<64x64xf32>) reading(%a : !moeq_gpu.operand<64x64xbf16>)
  // CHECK: moeq_gpu.mma_sync %[[A]], %{{.*}}, %{{.*}} : !moeq_gpu.operand<64x64xbf16>, <64x64xbf16> -> <64x64xf32>
  %g = moeq_gpu.mma_sync %a, %b, %f : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  // CHECK: moeq_gpu.mma_sync %[[A]], %{{.*}}, %{{.*}} part 3 of 4 : !moeq_gpu.operand<64x64xbf16>, <64x64xbf16> -> <64x64xf32>
  %h = moeq_gpu.mma_sync %a, %b, %f part 3 of 4 : !moeq_gpu.operand<64x64xbf16>, !moeq_gpu.tile<64x64xbf16> -> !moeq_gpu.fragment<64x64xf32>
  return
}

// CHECK-LABEL: @scaled
func.func @scaled(%w: !moeq_gpu.vector<2048xi8>, %s: !moeq_gpu.vector<128xf8E8M0FNU>, %r: !moeq_gpu.vector<128xf32>) {
  // CHECK: moeq_gpu.dequant %{{.*}} as f4E2M1FN scales(%{{.*}} : !moeq_gpu.vector<128xf8E8M0FNU>) : !moeq_gpu.vector<2048xi8> -> !moeq_gpu.operand<64x64xbf16>
  %0 = moeq_gpu.dequant %w as f4E2M1FN scales(%s : !moeq_gpu.vector<128xf8E8M0FNU>) : !moeq_gpu.vector<2048xi8> -> !moeq_gpu.operand<64x64xbf16>
  // CHECK: moeq_gpu.spread %{{.*}}[64] : <128xf32> -> <64x1xf32>
  %1 = moeq_gpu.spread %r[64] : !moeq_gpu.vector<128xf32> -> !moeq_gpu.fragment<64x1xf32>
  return
}
