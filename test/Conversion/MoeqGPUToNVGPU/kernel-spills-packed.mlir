// REQUIRES: ptxas
// RUN: sed s/CHIP/sm_80/ %s | moeq-opt --moeq-select-config --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s
// RUN: sed s/CHIP/sm_89/ %s | moeq-opt --moeq-select-config --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s
// RUN: sed s/CHIP/sm_90a/ %s | moeq-opt --moeq-select-config=expected-rows=16 --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s
// RUN: sed s/CHIP/sm_90a/ %s | moeq-opt --moeq-select-config=expected-rows=256 --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

// Kernels of packed weights of each scheme, with and without wgmma. Each
// assembles with no spill.

!int8 = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
!int8_f16 = !moeq.scaled<i8, block = [*], scale = f16, packing = fragments>
!int8_groups = !moeq.scaled<i8, block = [64], scale = bf16, packing = fragments>
!e4m3 = !moeq.scaled<f8E4M3FN, block = [*], scale = f32, packing = fragments>
!e4m3_f16 = !moeq.scaled<f8E4M3FN, block = [*], scale = f32, packing = fragments>
!e4m3_groups = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, packing = fragments>
!e5m2 = !moeq.scaled<f8E5M2, block = [*], scale = f32, packing = fragments>
!e5m2_groups = !moeq.scaled<f8E5M2, block = [32], scale = f32, packing = fragments>
!int4 = !moeq.scaled<i4, block = [128], scale = bf16, packing = fragments>
!int4_f16 = !moeq.scaled<i4, block = [64], scale = f16, packing = fragments>
!int4_groups = !moeq.scaled<i4, block = [32], scale = bf16, packing = fragments>
!uint4 = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8, packing = fragments>
!uint4_groups = !moeq.scaled<ui4, block = [32], scale = f16, zero = i8, packing = fragments>
!mxfp4 = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU, packing = fragments>

module attributes {moeq.target = #moeq.target<chip = "CHIP">} {
  // CHECK: gpu.binary @int8_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int8(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xi8>, %s: memref<8x1536x1xf32>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x1024xi8>, memref<8x1536x1xf32> as !int8)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @int8_f16_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int8_f16(%a: memref<?x1024xf16>, %w: memref<8x1536x1024xi8>, %s: memref<8x1536x1xf16>,
      %o: memref<9xi32>, %c: memref<?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xf16>)
      rhs(%w, %s : memref<8x1536x1024xi8>, memref<8x1536x1xf16> as !int8_f16)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @int8_groups_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int8_groups(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xi8>, %s: memref<8x1536x16xbf16>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x1024xi8>, memref<8x1536x16xbf16> as !int8_groups)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @e4m3_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @e4m3(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xf8E4M3FN>, %s: memref<8x1536x1xf32>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x1024xf8E4M3FN>, memref<8x1536x1xf32> as !e4m3)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @e4m3_f16_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @e4m3_f16(%a: memref<?x1024xf16>, %w: memref<8x1536x1024xf8E4M3FN>, %s: memref<8x1536x1xf32>,
      %o: memref<9xi32>, %c: memref<?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xf16>)
      rhs(%w, %s : memref<8x1536x1024xf8E4M3FN>, memref<8x1536x1xf32> as !e4m3_f16)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @e4m3_groups_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @e4m3_groups(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xf8E4M3FN>, %s: memref<8x1536x8xf32>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x1024xf8E4M3FN>, memref<8x1536x8xf32> as !e4m3_groups)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @e5m2_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @e5m2(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xf8E5M2>, %s: memref<8x1536x1xf32>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x1024xf8E5M2>, memref<8x1536x1xf32> as !e5m2)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @e5m2_groups_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @e5m2_groups(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xf8E5M2>, %s: memref<8x1536x32xf32>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x1024xf8E5M2>, memref<8x1536x32xf32> as !e5m2_groups)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @int4_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int4(%a: memref<?x1024xbf16>, %w: memref<8x1536x512xi8>, %s: memref<8x1536x8xbf16>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x512xi8>, memref<8x1536x8xbf16> as !int4)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @int4_f16_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int4_f16(%a: memref<?x1024xf16>, %w: memref<8x1536x512xi8>, %s: memref<8x1536x16xf16>,
      %o: memref<9xi32>, %c: memref<?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xf16>)
      rhs(%w, %s : memref<8x1536x512xi8>, memref<8x1536x16xf16> as !int4_f16)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @int4_groups_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int4_groups(%a: memref<?x1024xbf16>, %w: memref<8x1536x512xi8>, %s: memref<8x1536x32xbf16>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x512xi8>, memref<8x1536x32xbf16> as !int4_groups)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @uint4_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @uint4(%a: memref<?x1024xbf16>, %w: memref<8x1536x512xi8>, %s: memref<8x1536x8xbf16>, %z: memref<8x1536x8xi8>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s, %z : memref<8x1536x512xi8>, memref<8x1536x8xbf16>, memref<8x1536x8xi8> as !uint4)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @uint4_groups_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @uint4_groups(%a: memref<?x1024xf16>, %w: memref<8x1536x512xi8>, %s: memref<8x1536x32xf16>, %z: memref<8x1536x32xi8>,
      %o: memref<9xi32>, %c: memref<?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xf16>)
      rhs(%w, %s, %z : memref<8x1536x512xi8>, memref<8x1536x32xf16>, memref<8x1536x32xi8> as !uint4_groups)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @mxfp4_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @mxfp4(%a: memref<?x1024xbf16>, %w: memref<8x1536x512xi8>, %s: memref<8x1536x32xf8E8M0FNU>,
      %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w, %s : memref<8x1536x512xi8>, memref<8x1536x32xf8E8M0FNU> as !mxfp4)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }
}
