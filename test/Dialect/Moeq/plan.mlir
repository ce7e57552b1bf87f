// RUN: moeq-opt %s -split-input-file -moeq-plan=min-tile=1 | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-plan | FileCheck %s --check-prefix=LARGE

// LARGE-LABEL: func @swapped(
// LARGE:       moeq.plan
// LARGE-LABEL: func @dynamic(
// LARGE-NOT:   moeq.plan

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @swapped(
// CHECK-SAME:  %[[O:[^:]*]]: tensor<9xi32>
// CHECK:       %[[INIT:.*]] = tensor.empty() : tensor<9x4xi32>
// CHECK:       %[[N:.*]] = arith.constant 14336 : index
// CHECK:       %[[PLAN:.*]] = moeq.plan offsets(%[[O]] : tensor<9xi32>) columns(%[[N]]) outs(%[[INIT]] : tensor<9x4xi32>)
// CHECK-SAME:  tile_columns(256) max_width(160) ctas(132) -> tensor<9x4xi32>
// CHECK:       moeq.grouped_matmul {{.*}} plan(%[[PLAN]] : tensor<9x4xi32>)
func.func @swapped(%o: tensor<9xi32>, %a: tensor<?x4096x!a>, %w: tensor<8x14336x4096x!a>,
                   %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!a>) rhs(%w : tensor<8x14336x4096x!a>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>)
      config(<tile = [160, 256], schedule = dynamic, swap_ab = true>) -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// -----

// Dynamic sizes; integers have steps of 16; the target has other
// multiprocessors.

!i = !moeq.scaled<i8, block = [*], scale = f32>

module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = 114>} {
  // CHECK-LABEL: func @dynamic(
  // CHECK-DAG:   %[[E:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?xi32>
  // CHECK-DAG:   tensor.empty(%[[E]]) : tensor<?x4xi32>
  // CHECK-DAG:   %[[N:.*]] = tensor.dim %arg2
  // CHECK:       moeq.plan {{.*}} columns(%[[N]]) {{.*}} tile_columns(128) max_width(64) ctas(114) width_step(16)
  func.func @dynamic(%o: tensor<?xi32>, %a: tensor<?x?x!i>, %w: tensor<?x?x?x!i>,
                     %out: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
    %c = moeq.grouped_matmul lhs(%a : tensor<?x?x!i>) rhs(%w : tensor<?x?x?x!i>)
        offsets(%o : tensor<?xi32>) outs(%out : tensor<?x?xbf16>)
        config(<tile = [64, 128], swap_ab = true>) -> tensor<?x?xbf16>
    return %c : tensor<?x?xbf16>
  }
}

// -----

// Without a config, in the row form, with a plan, on memrefs, or of more
// experts than a plan holds.

// CHECK-LABEL: func @none(
// CHECK-NOT:   moeq.plan
func.func @none(%o: tensor<9xi32>, %a: tensor<?x64xbf16>, %w: tensor<8x64x64xbf16>,
                %out: tensor<?x64xbf16>, %p: tensor<9x4xi32>,
                %mo: memref<9xi32>, %ma: memref<?x64xbf16>, %mw: memref<8x64x64xbf16>,
                %mout: memref<?x64xbf16>, %lo: tensor<1026xi32>, %lw: tensor<1025x64x64xbf16>)
    -> tensor<?x64xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<8x64x64xbf16>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %1 = moeq.grouped_matmul lhs(%0 : tensor<?x64xbf16>) rhs(%w : tensor<8x64x64xbf16>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x64xbf16>)
      config(<tile = [128, 256]>) -> tensor<?x64xbf16>
  %2 = moeq.grouped_matmul lhs(%1 : tensor<?x64xbf16>) rhs(%w : tensor<8x64x64xbf16>)
      offsets(%o : tensor<9xi32>) plan(%p : tensor<9x4xi32>) outs(%out : tensor<?x64xbf16>)
      config(<tile = [64, 128], swap_ab = true>) -> tensor<?x64xbf16>
  moeq.grouped_matmul lhs(%ma : memref<?x64xbf16>) rhs(%mw : memref<8x64x64xbf16>)
      offsets(%mo : memref<9xi32>) outs(%mout : memref<?x64xbf16>)
      config(<tile = [64, 128], swap_ab = true>)
  %3 = moeq.grouped_matmul lhs(%2 : tensor<?x64xbf16>) rhs(%lw : tensor<1025x64x64xbf16>)
      offsets(%lo : tensor<1026xi32>) outs(%out : tensor<?x64xbf16>)
      config(<tile = [64, 128], swap_ab = true>) -> tensor<?x64xbf16>
  return %3 : tensor<?x64xbf16>
}

// -----

// Clusters leave an odd multiprocessor without work.

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// LARGE-LABEL: func @clusters(
// CHECK-LABEL: func @clusters(
// CHECK:       moeq.plan
// CHECK-SAME:  ctas(66)
module attributes {moeq.target = #moeq.target<chip = "sm_90a", sms = 67>} {
  func.func @clusters(%o: tensor<9xi32>, %a: tensor<?x4096x!a>, %w: tensor<8x14336x4096x!a>,
                      %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
    %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!a>) rhs(%w : tensor<8x14336x4096x!a>)
        offsets(%o : tensor<9xi32>) outs(%out : tensor<?x14336xbf16>)
        config(<tile = [160, 256], schedule = dynamic, swap_ab = true, cluster = 2>) -> tensor<?x14336xbf16>
    return %c : tensor<?x14336xbf16>
  }
}

// -----

// [136, 128] is for few tiles of rows with block scales, which a plan evens out;
// not of rows with one scale each, nor other tiles of that size.

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!r = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// LARGE-LABEL: func @few(
// LARGE:       moeq.plan
// LARGE-SAME:  tile_columns(128) max_width(136)
// LARGE:       moeq.grouped_matmul {{.*}} plan(
// LARGE-NOT:   moeq.plan
// LARGE:       return
func.func @few(%o: tensor<9xi32>, %a: tensor<?x4096x!a>, %w: tensor<8x7168x4096x!w>,
               %r: tensor<?x4096x!r>, %v: tensor<8x7168x4096x!r>, %out: tensor<?x7168xbf16>)
    -> (tensor<?x7168xbf16>, tensor<?x7168xbf16>, tensor<?x7168xbf16>, tensor<?x7168xbf16>) {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x4096x!a>) rhs(%w : tensor<8x7168x4096x!w>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x7168xbf16>)
      config(<tile = [136, 128], schedule = dynamic, swap_ab = true>) -> tensor<?x7168xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x4096x!a>) rhs(%w : tensor<8x7168x4096x!w>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x7168xbf16>)
      config(<tile = [128, 128], schedule = dynamic, swap_ab = true>) -> tensor<?x7168xbf16>
  %2 = moeq.grouped_matmul lhs(%a : tensor<?x4096x!a>) rhs(%w : tensor<8x7168x4096x!w>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x7168xbf16>)
      config(<tile = [136, 64], schedule = dynamic, swap_ab = true, consumers = 1>) -> tensor<?x7168xbf16>
  %3 = moeq.grouped_matmul lhs(%r : tensor<?x4096x!r>) rhs(%v : tensor<8x7168x4096x!r>)
      offsets(%o : tensor<9xi32>) outs(%out : tensor<?x7168xbf16>)
      config(<tile = [136, 128], schedule = dynamic, swap_ab = true>) -> tensor<?x7168xbf16>
  return %0, %1, %2, %3 : tensor<?x7168xbf16>, tensor<?x7168xbf16>, tensor<?x7168xbf16>, tensor<?x7168xbf16>
}
