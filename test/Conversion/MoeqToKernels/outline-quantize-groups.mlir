// RUN: moeq-opt %s --split-input-file --moeq-outline-kernels --canonicalize --cse | FileCheck %s

// Groups of few rows: the first ten CTAs of a column of tiles, two of 32 rows
// each and one for each group's last, have rows; the eight after them store
// the zeros of padding.

// CHECK-LABEL: llvm.func @few_quantize(

// A thread brings 32 bytes of the input into the cache, and of the offsets.
// CHECK-COUNT-2: nvvm.prefetch level = L2
// CHECK-NOT: nvvm.prefetch
// CHECK: %[[TILE:.*]] = arith.divui %{{.*}}, %c16 : index
// CHECK: arith.cmpi ult, %[[TILE]], %c10 : index
// CHECK: scf.if

// Codes of 16 rows are stored at once; the scale of a column comes from shared
// memory, where the thread that formed it put it.
// CHECK: llvm.store %{{.*}} : i8, !llvm.ptr<3>
// CHECK: nvvm.barrier
// The scales are powers of two: pairs of bf16 are multiplied by them.
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<8xbf16>
// CHECK-NOT: arith.mulf
// CHECK: llvm.store %{{.*}} : vector<16xi8>, !llvm.ptr<1>
// CHECK: %[[SCALE:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i8
// CHECK: llvm.store %[[SCALE]], %{{.*}} : i8, !llvm.ptr<1>

// CHECK: arith.cmpi uge, %[[TILE]], %c10 : index
// CHECK: scf.if
// CHECK-NOT: nvvm.barrier
// CHECK: scf.for
// CHECK: llvm.store %c0_i8, %{{.*}} : i8, !llvm.ptr<1>
// CHECK: llvm.store %{{.*}} : vector<16xi8>, !llvm.ptr<1>

// CHECK-LABEL: func.func @few
// CHECK: gpu.launch_func @few_kernels::@few_quantize blocks in (%c288,

!column = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @few(%x: memref<64x512xbf16>, %offsets: memref<9xi32>, %q: memref<512x1024xf8E4M3FN>,
               %s: memref<512x32xf8E8M0FNU>) {
  moeq.quantize input(%x : memref<64x512xbf16>) offsets(%offsets : memref<9xi32>)
      columnwise(%q, %s : memref<512x1024xf8E4M3FN>, memref<512x32xf8E8M0FNU> as !column)
      recipe(<te_mx>)
  return
}

// -----

// The padding has no more than zeros of scales: each thread stores those of four
// blocks that lie side by side.

// CHECK-LABEL: llvm.func @scales_quantize(
// CHECK: arith.cmpi uge, %{{.*}}, %c16 : index
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: llvm.store %{{.*}} : vector<4xi8>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK-LABEL: func.func @scales

!row = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4, groups = 8>

func.func @scales(%x: memref<64x512xbf16>, %offsets: memref<9xi32>, %q: memref<64x512xf8E4M3FN>,
                  %s: memref<1024x16xf8E8M0FNU>) {
  moeq.quantize input(%x : memref<64x512xbf16>) offsets(%offsets : memref<9xi32>)
      outs(%q, %s : memref<64x512xf8E4M3FN>, memref<1024x16xf8E8M0FNU> as !row)
      recipe(<te_mx>)
  return
}

// -----

// Squared ReLU has no signs to clear before the maximum.

// CHECK-LABEL: llvm.func @squares_act_quant(
// CHECK-NOT: dense<2147450879>
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<8xbf16>
// CHECK: arith.maxui
// CHECK-LABEL: func.func @squares

!row = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @squares(%x: memref<64x512xbf16>, %q: memref<64x512xf8E4M3FN>,
                   %s: memref<64x16xf8E8M0FNU>) {
  moeq.act_quant input(%x : memref<64x512xbf16>)
      outs(%q, %s : memref<64x512xf8E4M3FN>, memref<64x16xf8E8M0FNU> as !row)
      function(srelu) intermediate_round(bf16) recipe(<te_mx>)
  return
}
