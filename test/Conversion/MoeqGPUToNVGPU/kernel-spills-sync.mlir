// REQUIRES: ptxas
// RUN: sed s/CHIP/sm_80/ %s | moeq-opt --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: sed s/CHIP/sm_89/ %s | moeq-opt --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s
// RUN: sed s/CHIP/sm_100a/ %s | moeq-opt --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s --check-prefix=ASSEMBLED

// Kernels of chips without wgmma, of each scheme and placement of rows. Each
// assembles with no spill, in the registers that two warpgroups leave to a
// thread: at most 255, and more than a kernel without tensor cores has.
// ASSEMBLED-COUNT-18: gpu.binary

!vector_a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!vector_b = !moeq.scaled<f8E5M2, block = [*], scale = f32>
!blocks_a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!blocks_b = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!integer = !moeq.scaled<i8, block = [*], scale = f32>

module attributes {moeq.target = #moeq.target<chip = "CHIP">} {
  // CHECK: gpu.binary @bf16_ragged_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @bf16_ragged(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xbf16>, %o: memref<9xi32>,
                         %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w : memref<8x1536x1024xbf16>)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @bf16_masked_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @bf16_masked(%a: memref<8x?x1024xbf16>, %w: memref<8x1536x1024xbf16>,
                         %n: memref<8xi32>, %c: memref<8x?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<8x?x1024xbf16>)
      rhs(%w : memref<8x1536x1024xbf16>)
      counts(%n : memref<8xi32>) outs(%c : memref<8x?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @bf16_gathered_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @bf16_gathered(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xbf16>,
                           %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w : memref<8x1536x1024xbf16>)
      offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @f16_ragged_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @f16_ragged(%a: memref<?x1024xf16>, %w: memref<8x1536x1024xf16>, %o: memref<9xi32>,
                        %c: memref<?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xf16>)
      rhs(%w : memref<8x1536x1024xf16>)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @f16_masked_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @f16_masked(%a: memref<8x?x1024xf16>, %w: memref<8x1536x1024xf16>, %n: memref<8xi32>,
                        %c: memref<8x?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<8x?x1024xf16>)
      rhs(%w : memref<8x1536x1024xf16>)
      counts(%n : memref<8xi32>) outs(%c : memref<8x?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @f16_gathered_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @f16_gathered(%a: memref<?x1024xf16>, %w: memref<8x1536x1024xf16>, %o: memref<9xi32>,
                          %r: memref<?xi32>, %c: memref<?x1536xf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xf16>)
      rhs(%w : memref<8x1536x1024xf16>)
      offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x1536xf16>)
    return
  }

  // CHECK: gpu.binary @int8_ragged_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int8_ragged(%a: memref<?x1024xi8>, %sa: memref<?x1xf32>, %w: memref<8x1536x1024xi8>,
                         %sw: memref<8x1536x1xf32>, %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xi8>, memref<?x1xf32> as !integer)
      rhs(%w, %sw : memref<8x1536x1024xi8>, memref<8x1536x1xf32> as !integer)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @int8_masked_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int8_masked(%a: memref<8x?x1024xi8>, %sa: memref<8x?x1xf32>,
                         %w: memref<8x1536x1024xi8>, %sw: memref<8x1536x1xf32>, %n: memref<8xi32>,
                         %c: memref<8x?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<8x?x1024xi8>, memref<8x?x1xf32> as !integer)
      rhs(%w, %sw : memref<8x1536x1024xi8>, memref<8x1536x1xf32> as !integer)
      counts(%n : memref<8xi32>) outs(%c : memref<8x?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @int8_gathered_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @int8_gathered(%a: memref<?x1024xi8>, %sa: memref<?x1xf32>, %w: memref<8x1536x1024xi8>,
                           %sw: memref<8x1536x1xf32>, %o: memref<9xi32>, %r: memref<?xi32>,
                           %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xi8>, memref<?x1xf32> as !integer)
      rhs(%w, %sw : memref<8x1536x1024xi8>, memref<8x1536x1xf32> as !integer)
      offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @fp8_ragged_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @fp8_ragged(%a: memref<?x1024xf8E4M3FN>, %sa: memref<?x1xf32>,
                        %w: memref<8x1536x1024xf8E5M2>, %sw: memref<8x1536x1xf32>,
                        %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xf8E4M3FN>, memref<?x1xf32> as !vector_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E5M2>, memref<8x1536x1xf32> as !vector_b)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @fp8_masked_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @fp8_masked(%a: memref<8x?x1024xf8E4M3FN>, %sa: memref<8x?x1xf32>,
                        %w: memref<8x1536x1024xf8E5M2>, %sw: memref<8x1536x1xf32>,
                        %n: memref<8xi32>, %c: memref<8x?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<8x?x1024xf8E4M3FN>, memref<8x?x1xf32> as !vector_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E5M2>, memref<8x1536x1xf32> as !vector_b)
      counts(%n : memref<8xi32>) outs(%c : memref<8x?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @fp8_gathered_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @fp8_gathered(%a: memref<?x1024xf8E4M3FN>, %sa: memref<?x1xf32>,
                          %w: memref<8x1536x1024xf8E5M2>, %sw: memref<8x1536x1xf32>,
                          %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xf8E4M3FN>, memref<?x1xf32> as !vector_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E5M2>, memref<8x1536x1xf32> as !vector_b)
      offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @blocks_ragged_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @blocks_ragged(%a: memref<?x1024xf8E4M3FN>, %sa: memref<?x8xf32>,
                           %w: memref<8x1536x1024xf8E4M3FN>, %sw: memref<8x12x8xf32>,
                           %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xf8E4M3FN>, memref<?x8xf32> as !blocks_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E4M3FN>, memref<8x12x8xf32> as !blocks_b)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @blocks_masked_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @blocks_masked(%a: memref<8x?x1024xf8E4M3FN>, %sa: memref<8x?x8xf32>,
                           %w: memref<8x1536x1024xf8E4M3FN>, %sw: memref<8x12x8xf32>,
                           %n: memref<8xi32>, %c: memref<8x?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<8x?x1024xf8E4M3FN>, memref<8x?x8xf32> as !blocks_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E4M3FN>, memref<8x12x8xf32> as !blocks_b)
      counts(%n : memref<8xi32>) outs(%c : memref<8x?x1536xbf16>)
    return
  }

  // CHECK: gpu.binary @blocks_gathered_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @blocks_gathered(%a: memref<?x1024xf8E4M3FN>, %sa: memref<?x8xf32>,
                             %w: memref<8x1536x1024xf8E4M3FN>, %sw: memref<8x12x8xf32>,
                             %o: memref<9xi32>, %r: memref<?xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xf8E4M3FN>, memref<?x8xf32> as !blocks_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E4M3FN>, memref<8x12x8xf32> as !blocks_b)
      offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%c : memref<?x1536xbf16>)
    return
  }

  // The widest tile, for which some chips have no shared memory.
  // WIDE: gpu.binary @wide_kernels
  // WIDE-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // WIDE-SAME: spill_stores = 0
  func.func @wide(%a: memref<?x1024xbf16>, %w: memref<8x1536x1024xbf16>, %o: memref<9xi32>,
                  %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a : memref<?x1024xbf16>)
      rhs(%w : memref<8x1536x1024xbf16>)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>) config(<tile = [128, 256], stages = 2, raster = 8>)
    return
  }

  // One consumer, whose threads copy all rows.
  // CHECK: gpu.binary @narrow_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @narrow(%a: memref<?x1024xi8>, %sa: memref<?x1xf32>, %w: memref<8x1536x1024xi8>,
                    %sw: memref<8x1536x1xf32>, %o: memref<9xi32>, %c: memref<?x1536xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xi8>, memref<?x1xf32> as !integer)
      rhs(%w, %sw : memref<8x1536x1024xi8>, memref<8x1536x1xf32> as !integer)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x1536xbf16>) config(<tile = [64, 256], stages = 2, consumers = 1>)
    return
  }

  // CHECK: gpu.binary @gated_kernels
  // CHECK-SAME: registers = {{1[0-9][0-9]|2[0-5][0-9]}} : i64
  // CHECK-SAME: spill_stores = 0
  func.func @gated(%a: memref<?x1024xf8E4M3FN>, %sa: memref<?x1xf32>,
                   %w: memref<8x1536x1024xf8E5M2>, %sw: memref<8x1536x1xf32>, %o: memref<9xi32>,
                   %c: memref<?x768xbf16>) {
    moeq.grouped_matmul lhs(%a, %sa : memref<?x1024xf8E4M3FN>, memref<?x1xf32> as !vector_a)
      rhs(%w, %sw : memref<8x1536x1024xf8E5M2>, memref<8x1536x1xf32> as !vector_b)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x768xbf16>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      %0 = arith.mulf %gate, %up : f32
      %1 = arith.truncf %0 : f32 to bf16
      moeq.yield %1 : bf16
    }
    return
  }
}
