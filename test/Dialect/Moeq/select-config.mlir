// RUN: moeq-opt %s -split-input-file -moeq-select-config | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-select-config=expected-rows=16 | FileCheck %s --check-prefix=FEW
// RUN: moeq-opt %s -split-input-file -moeq-select-config=chip=sm_89 | FileCheck %s --check-prefix=ADA
// RUN: moeq-opt %s -split-input-file -moeq-select-config -o /dev/null --remarks-filter=moeq-select-config 2>&1 | FileCheck %s --check-prefix=REMARK

!act = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @fp8(
// CHECK:       moeq.grouped_matmul {{.*}} config(<tile = [128, 256], stages = 4, consumers = 2, schedule = dynamic, swap_ab = false, split_k = 1, raster = 8, cluster = 2>)
// FEW-LABEL:   func @fp8(
// FEW:         config(<tile = [64, 128], stages = 8, consumers = 1,
// On a chip with 99 KiB, two stages of 128 x 128 or three of 128 x 64.
// ADA-LABEL:   func @fp8(
// ADA:         config(<tile = [128, 128], stages = 2, consumers = 2,
// REMARK: remark: [Analysis] config | Category:moeq-select-config | Remark="8 x 1024 rows, N 14336, K 4096 on sm_90a:
// REMARK-SAME: #moeq.config<tile = [128, 256], stages = 4, {{[^>]*}} swap_ab = false, {{[^>]*}}, cluster = 2> 75{{[0-9.]+}} us (28.4 waves, tensor cores); #moeq.config<tile = [160, 256], stages = 4, {{[^>]*}} swap_ab = true, {{[^>]*}}, cluster = 2> 66{{[0-9.]+}} us
func.func @fp8(%a: tensor<?x4096x!act>, %w: tensor<8x14336x4096x!act>, %offsets: tensor<9xi32>,
               %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!act>) rhs(%w : tensor<8x14336x4096x!act>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// Static rows count, whatever is expected: 128 an expert.

// CHECK-LABEL: func @static_rows(
// CHECK:       config(<tile = [128, 256], stages = 4, consumers = 2,
// REMARK: 8 x 128 rows, N 14336, K 4096
func.func @static_rows(%a: tensor<1024x4096x!act>, %w: tensor<8x14336x4096x!act>,
                       %offsets: tensor<9xi32>, %out: tensor<1024x14336xbf16>)
    -> tensor<1024x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<1024x4096x!act>) rhs(%w : tensor<8x14336x4096x!act>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<1024x14336xbf16>)
      -> tensor<1024x14336xbf16>
  return %c : tensor<1024x14336xbf16>
}

// Scales of each column that change along K take registers: a narrower tile.

!block = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @column_scales(
// CHECK:       config(<tile = [128, 128], stages = 5, consumers = 2,
func.func @column_scales(%a: tensor<?x4096x!block>, %w: tensor<8x14336x4096x!block>,
                         %offsets: tensor<9xi32>, %out: tensor<?x14336xbf16>)
    -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!block>) rhs(%w : tensor<8x14336x4096x!block>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// A config that is there wins.

// CHECK-LABEL: func @kept(
// CHECK:       config(<tile = [64, 64], stages = 2, consumers = 1, schedule = simple,
func.func @kept(%a: tensor<?x4096x!act>, %w: tensor<8x14336x4096x!act>, %offsets: tensor<9xi32>,
                %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!act>) rhs(%w : tensor<8x14336x4096x!act>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>)
      config(<tile = [64, 64], stages = 2, consumers = 1, schedule = simple>)
      -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// -----

// CHECK-LABEL: func @bf16(
// CHECK:       config(<tile = [128, 256], stages = 4, consumers = 2,
// REMARK: 8 x 1024 rows, N 4096, K 14336 on sm_90a: #moeq.config<tile = [128, 256], {{[^>]*}}> 14{{[0-9.]+}} us (8.2 waves, tensor cores)
func.func @bf16(%a: tensor<?x14336xbf16>, %w: tensor<8x4096x14336xbf16>, %offsets: tensor<9xi32>,
                %out: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x14336xbf16>) rhs(%w : tensor<8x4096x14336xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %c : tensor<?x4096xbf16>
}

// -----

!int8 = !moeq.scaled<i8, block = [*], scale = f32>

// A plain matmul, on memrefs, in component form; a few rows are bound by memory.

// CHECK-LABEL: func @int8_memrefs(
// CHECK:       moeq.matmul {{.*}} config(<tile = [128, 256], stages = 4, consumers = 2,
// FEW-LABEL:   func @int8_memrefs(
// FEW:         config(<tile = [64, 128], stages = 8, consumers = 1, schedule = persistent, swap_ab = false, split_k = 2,
// REMARK: 1 x 1024 rows, N 8192, K 8192 on sm_90a: #moeq.config<tile = [128, 256]
func.func @int8_memrefs(%a: memref<?x8192xi8>, %as: memref<?x1xf32>, %w: memref<8192x8192xi8>,
                        %ws: memref<8192x1xf32>, %out: memref<?x8192xf16>) {
  moeq.matmul lhs(%a, %as : memref<?x8192xi8>, memref<?x1xf32> as !int8)
      rhs(%w, %ws : memref<8192x8192xi8>, memref<8192x1xf32> as !int8)
      outs(%out : memref<?x8192xf16>)
  return
}

// -----

// All dynamic: 8 experts of 4096 columns and elements.

// CHECK-LABEL: func @dynamic(
// CHECK:       config(<tile = [128, 256]
// REMARK: 8 x 1024 rows, N 4096, K 4096
func.func @dynamic(%a: tensor<?x?xf32>, %w: tensor<?x?x?xf32>, %offsets: tensor<?xi32>,
                   %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x?xf32>) rhs(%w : tensor<?x?x?xf32>)
      offsets(%offsets : tensor<?xi32>) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// -----

// The module's target, with figures of its own: half of the chip.

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: func @target(
// CHECK:       config(<tile = [128, 256], stages = 2,
// REMARK: 8 x 1024 rows, N 14336, K 4096 on sm_90a: #moeq.config<tile = [128, 256], stages = 2, {{[^>]*}}> {{[0-9.]+}} us (56.7 waves, tensor cores)
module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = 66, shared_memory = 140000>} {
  func.func @target(%a: tensor<?x4096x!mx>, %w: tensor<8x14336x4096x!mx>, %offsets: tensor<9xi32>,
                    %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
    %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!mx>) rhs(%w : tensor<8x14336x4096x!mx>)
        offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>) -> tensor<?x14336xbf16>
    return %c : tensor<?x14336xbf16>
  }
}

// -----

// The tiles of the weight's gradient: N and K are rows and columns, the rows of an expert are summed over.

// CHECK-LABEL: func @contract_rows(
// CHECK:       contract(rows) config(<tile = [128, 256], {{.*}}schedule = dynamic
// REMARK: 8 x 7168 rows, N 2048, K 1024 on sm_90a
// CHECK:       transpose_rhs config(<tile = [128, 256]
// REMARK: 8 x 1024 rows, N 2048, K 7168 on sm_90a
func.func @contract_rows(%dy: tensor<?x7168xbf16>, %x: tensor<?x2048xbf16>, %w: tensor<8x7168x2048xbf16>, %offsets: tensor<9xi32>,
                         %dw: tensor<8x7168x2048xf32>, %dx: tensor<?x2048xbf16>) -> (tensor<8x7168x2048xf32>, tensor<?x2048xbf16>) {
  %0 = moeq.grouped_matmul lhs(%dy : tensor<?x7168xbf16>) rhs(%x : tensor<?x2048xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%dw : tensor<8x7168x2048xf32>) contract(rows) -> tensor<8x7168x2048xf32>
  %1 = moeq.grouped_matmul lhs(%dy : tensor<?x7168xbf16>) rhs(%w : tensor<8x7168x2048xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%dx : tensor<?x2048xbf16>) transpose_rhs -> tensor<?x2048xbf16>
  return %0, %1 : tensor<8x7168x2048xf32>, tensor<?x2048xbf16>
}

// -----

// Packed weights are the first operand on every chip. Sums that are promoted have
// registers for 64 rows where warps multiply, and gates with their ups 128 columns.

!int8 = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
!int4 = !moeq.scaled<i4, block = [128], scale = bf16, packing = fragments>

// ADA-LABEL:   func @packed(
// ADA:         config(<tile = [128, 128], stages = 3, consumers = 2, schedule = persistent, swap_ab = true
// ADA:         config(<tile = [64, 128], stages = 3, consumers = 2, schedule = persistent, swap_ab = true
// CHECK-LABEL: func @packed(
// CHECK:       config(<tile = [64, 256], {{.*}}consumers = 2, schedule = dynamic, swap_ab = true{{.*}}gated
func.func @packed(%a: tensor<?x4096xbf16>, %w: tensor<8x4096x4096x!int8>, %v: tensor<8x4096x4096x!int4>, %offsets: tensor<9xi32>,
                  %out: tensor<?x4096xbf16>, %gated: tensor<?x2048xbf16>)
    -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<?x2048xbf16>) {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%w : tensor<8x4096x4096x!int8>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%v : tensor<8x4096x4096x!int4>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  %2 = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%w : tensor<8x4096x4096x!int8>)
      offsets(%offsets : tensor<9xi32>) outs(%gated : tensor<?x2048xbf16>) epilogue gated {
    ^bb0(%gate: f32, %up: f32, %row: index, %column: index):
      %g = arith.mulf %gate, %up : f32
      %t = arith.truncf %g : f32 to bf16
      moeq.yield %t : bf16
  } -> tensor<?x2048xbf16>
  return %0, %1, %2 : tensor<?x4096xbf16>, tensor<?x4096xbf16>, tensor<?x2048xbf16>
}

// -----

// A config that is there is kept, and a must.

// CHECK-LABEL: func @given(
// CHECK:       moeq.matmul {{.*}} config(<tile = [64, 64], {{.*}}>) attributes {moeq.given_config}
// CHECK:       moeq.matmul {{.*}} config(
// CHECK-NOT:   moeq.given_config
func.func @given(%a: tensor<?x64xbf16>, %w: tensor<64x64xbf16>, %out: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<64x64xbf16>) outs(%out : tensor<?x64xbf16>)
    config(<tile = [64, 64], consumers = 1>) -> tensor<?x64xbf16>
  %1 = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<64x64xbf16>) outs(%out : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %0, %1 : tensor<?x64xbf16>, tensor<?x64xbf16>
}
