// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse | FileCheck %s

// Groups of few rows: the first ten CTAs of a column of tiles, two of 32 rows
// each and one for each group's last, have rows; the eight after them store
// the zeros of padding.

// CHECK-LABEL: llvm.func @few_quantize(

// A thread brings 64 bytes of the input into the cache, and 32 of the offsets.
// CHECK-COUNT-3: nvvm.prefetch level = L2
// CHECK-NOT: nvvm.prefetch
// CHECK: %[[TILE:.*]] = arith.divui %{{.*}}, %c4 : index
// CHECK: arith.cmpi ult, %[[TILE]], %c10 : index
// CHECK: scf.if

// Codes of 16 rows are stored at once; the scale of a column comes from shared
// memory, where the thread that formed it put it.
// CHECK: llvm.store %{{.*}} : i8, !llvm.ptr<3>
// CHECK: nvvm.barrier
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
// CHECK: gpu.launch_func @few_kernels::@few_quantize blocks in (%c72,

!column = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

func.func @few(%x: memref<64x512xbf16>, %offsets: memref<9xi32>, %q: memref<512x1024xf8E4M3FN>,
               %s: memref<512x32xf8E8M0FNU>) {
  moeq.quantize input(%x : memref<64x512xbf16>) offsets(%offsets : memref<9xi32>)
      columnwise(%q, %s : memref<512x1024xf8E4M3FN>, memref<512x32xf8E8M0FNU> as !column)
      recipe(<te_mx>)
  return
}
