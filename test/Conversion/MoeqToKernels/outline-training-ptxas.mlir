// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Activations and their gradients that are quantized, without a spill but for
// the addresses that rounded gradients may (kMaxSpillStores).

!row = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4, groups = 8>
!column = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!block = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!token = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK: gpu.binary @both_kernels
// CHECK-SAME: registers = 64 : i64{{.*}} spill_stores = {{[048]}} : i64
func.func @both(%d: memref<?x2048xbf16>, %x: memref<?x4096xbf16>, %o: memref<9xi32>,
    %q: memref<?x4096xf8E4M3FN>, %s: memref<?x128xf8E8M0FNU>, %t: memref<4096x?xf8E4M3FN>, %u: memref<4096x?xf8E8M0FNU>) {
  moeq.act_quant_grad grad(%d : memref<?x2048xbf16>) input(%x : memref<?x4096xbf16>) offsets(%o : memref<9xi32>)
      outs(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x128xf8E8M0FNU> as !row)
      columnwise(%t, %u : memref<4096x?xf8E4M3FN>, memref<4096x?xf8E8M0FNU> as !column)
      function(swiglu) intermediate_round(bf16) recipe(<te_mx>)
  return
}

// CHECK: gpu.binary @plain_kernels
// CHECK-SAME: spill_stores = 0
func.func @plain(%d: memref<?x4096xbf16>, %x: memref<?x4096xbf16>, %q: memref<?x4096xf8E4M3FN>, %s: memref<?x128xf8E8M0FNU>,
    %t: memref<4096x?xf8E4M3FN>, %u: memref<4096x?xf8E8M0FNU>) {
  moeq.act_quant_grad grad(%d : memref<?x4096xbf16>) input(%x : memref<?x4096xbf16>)
      outs(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x128xf8E8M0FNU> as !column)
      columnwise(%t, %u : memref<4096x?xf8E4M3FN>, memref<4096x?xf8E8M0FNU> as !column)
      function(gelu_tanh) intermediate_round(bf16) recipe(<te_mx>)
  return
}

// CHECK: gpu.binary @token_kernels
// CHECK-SAME: spill_stores = 0
func.func @token(%d: memref<?x2048xbf16>, %x: memref<?x4096xbf16>, %q: memref<?x4096xf8E4M3FN>, %s: memref<?x1xf32>) {
  moeq.act_quant_grad grad(%d : memref<?x2048xbf16>) input(%x : memref<?x4096xbf16>)
      outs(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !token)
      function(geglu) gate_layout(interleaved_64) intermediate_round(bf16) recipe(<vllm_token>)
  return
}

// Pairs of a whole warp; and sums of columns.
// CHECK: gpu.binary @blocks_kernels
// CHECK-SAME: spill_stores = 0
func.func @blocks(%d: memref<?x2048xbf16>, %x: memref<?x4096xbf16>, %o: memref<9xi32>, %q: memref<?x4096xf8E4M3FN>,
    %s: memref<?x32xf32>, %t: memref<4096x?xf8E4M3FN>, %u: memref<4096x?xf32>) {
  moeq.act_quant_grad grad(%d : memref<?x2048xbf16>) input(%x : memref<?x4096xbf16>) offsets(%o : memref<9xi32>)
      outs(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !block)
      columnwise(%t, %u : memref<4096x?xf8E4M3FN>, memref<4096x?xf32> as !block)
      function(swiglu) intermediate_round(bf16) recipe(<deepgemm>)
  return
}

// CHECK: gpu.binary @activation_kernels
// CHECK-SAME: spill_stores = 0
func.func @activation(%x: memref<?x8192xbf16>, %o: memref<9xi32>, %q: memref<?x4096xf8E4M3FN>, %s: memref<?x128xf8E8M0FNU>,
    %t: memref<4096x?xf8E4M3FN>, %u: memref<4096x?xf8E8M0FNU>) {
  moeq.act_quant input(%x : memref<?x8192xbf16>) offsets(%o : memref<9xi32>)
      outs(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x128xf8E8M0FNU> as !row)
      columnwise(%t, %u : memref<4096x?xf8E4M3FN>, memref<4096x?xf8E8M0FNU> as !column)
      function(geglu) intermediate_round(bf16) recipe(<te_mx>)
  return
}
