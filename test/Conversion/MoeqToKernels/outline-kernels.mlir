// RUN: moeq-opt %s --split-input-file --moeq-outline-kernels --canonicalize --cse | FileCheck %s

// Pointers come first, then extents; what is only read is readonly. A grid of
// no CTAs is never launched.

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @layer_kernels
// CHECK: llvm.func @layer_gather(
// CHECK-SAME: !llvm.ptr<1> {llvm.noalias, llvm.readonly}
// CHECK-SAME: !llvm.ptr<1> {llvm.noalias}
// CHECK-SAME: i64) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, nvvm.minctasm = 4 : i32}
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<16xi8>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<16xi8>, !llvm.ptr<1>
// CHECK-NOT: llvm.func @layer_gather_1(
// CHECK-LABEL: func.func @layer
// CHECK-SAME: (%[[Q:.*]]: memref<?x4096xf8E4M3FN>, %[[S:.*]]: memref<?x1xf32>, %[[ROWS:.*]]: memref<?xi32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK: %[[N:.*]] = memref.dim %[[ROWS]]
// CHECK: %[[GRID:.*]] = arith.maxui %[[N]], %[[C1]]
// CHECK: gpu.launch_func @layer_kernels::@layer_gather blocks in (%[[GRID]], %[[C1]], %[[C1]]) threads in (%[[C256]], %[[C1]], %[[C1]])
// CHECK-SAME: args(%[[ROWS]] : memref<?xi32>,
// CHECK-SAME: %[[N]] : index)
// CHECK: gpu.launch_func @layer_kernels::@layer_gather blocks
// CHECK-NOT: moeq.
func.func @layer(%q: memref<?x4096xf8E4M3FN>, %s: memref<?x1xf32>, %rows: memref<?xi32>,
                 %qo: memref<?x4096xf8E4M3FN>, %so: memref<?x1xf32>) {
  moeq.gather input(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
      rows(%rows : memref<?xi32>)
      outs(%qo, %so : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
  moeq.gather input(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
      rows(%rows : memref<?xi32>)
      outs(%qo, %so : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
  return
}

// -----

// A pitch that is no multiple of 16 bytes is read by narrower loads.

// CHECK-LABEL: llvm.func @odd_combine
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xbf16>
// CHECK: math.fma %{{.*}} : vector<2xf32>
func.func @odd(%x: memref<?x30xbf16>, %slots: memref<?x2xi32>, %w: memref<?x2xf32>,
               %y: memref<?x30xbf16>) {
  moeq.combine input(%x : memref<?x30xbf16>) slots(%slots : memref<?x2xi32>)
      weights(%w : memref<?x2xf32>) outs(%y : memref<?x30xbf16>)
  return
}

// -----

// The kernel of an elementwise op keeps its body; scalars of the host become
// parameters.

// CHECK-LABEL: llvm.func @scale_generic
// CHECK-SAME: f32
// CHECK: %[[X:.*]] = llvm.load %{{.*}} -> f32
// CHECK: arith.mulf %[[X]], %{{.*}} : f32
// CHECK-LABEL: func.func @scale
// CHECK: gpu.launch_func @scale_kernels::@scale_generic
// CHECK-SAME: args(%{{.*}} : memref<?xf32>, %{{.*}} : index, %{{.*}} : f32)
func.func @scale(%x: memref<?xf32>, %factor: f32) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %factor : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Nothing to do.

// CHECK-LABEL: func.func @empty
// CHECK-NOT: gpu
// CHECK: return
func.func @empty(%x: memref<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?xf32>
  return %d : index
}

// -----

// A scale of the whole tensor takes two kernels: the largest magnitudes of its
// parts, then the values.

!t = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>

// CHECK-LABEL: llvm.func @tensor_quantize_amax
// CHECK: nvvm.barrier
// CHECK-LABEL: llvm.func @tensor_quantize(
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf8E4M3FN>
// CHECK-LABEL: func.func @tensor
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<512xi32>
// CHECK: gpu.launch_func @tensor_kernels::@tensor_quantize_amax
// CHECK-SAME: %[[PARTS]] : memref<512xi32>
// CHECK: gpu.launch_func @tensor_kernels::@tensor_quantize
// CHECK-SAME: %[[PARTS]] : memref<512xi32>
// CHECK: memref.dealloc %[[PARTS]]
func.func @tensor(%x: memref<?x512xbf16>, %q: memref<?x512xf8E4M3FN>, %s: memref<1x1xf32>) {
  moeq.quantize input(%x : memref<?x512xbf16>)
      outs(%q, %s : memref<?x512xf8E4M3FN>, memref<1x1xf32> as !t) recipe(<te>)
  return
}

// -----

// Blocks inside of a row: 16 threads have one, and find its scale together. A
// thread has 4 rows, or one where there are fewer than 3.5 Mi codes.

!b = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: llvm.func @blocks_quantize
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x512xf8E4M3FN>
// CHECK-DAG: %[[ROWS:.*]] = memref.dim %[[Q]], %c0
// CHECK-DAG: %[[MANY:.*]] = arith.constant 3670016 : index
// CHECK: %[[COUNT:.*]] = arith.muli %[[ROWS]], %c512
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %[[COUNT]], %[[MANY]]
// CHECK: scf.if %[[FEW]] {
// CHECK: arith.ceildivui %{{.*}}, %c8
// CHECK: gpu.launch_func @blocks_kernels::@blocks_quantize_few blocks
// CHECK: } else {
// CHECK: arith.ceildivui %{{.*}}, %c32
// CHECK: gpu.launch_func @blocks_kernels::@blocks_quantize blocks
func.func @blocks(%x: memref<?x512xbf16>, %q: memref<?x512xf8E4M3FN>, %s: memref<?x4xf32>) {
  moeq.quantize input(%x : memref<?x512xbf16>)
      outs(%q, %s : memref<?x512xf8E4M3FN>, memref<?x4xf32> as !b) recipe(<deepgemm>)
  return
}

// -----

// Where the number of codes is known there is one of the two.

!b = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func.func @few
// CHECK-NOT: scf.if
// CHECK: gpu.launch_func @few_kernels::@few_quantize blocks in (%c128, {{.*}}
// CHECK-NOT: gpu.launch_func
func.func @few(%x: memref<512x512xbf16>, %q: memref<512x512xf8E4M3FN>, %s: memref<512x4xf32>) {
  moeq.quantize input(%x : memref<512x512xbf16>)
      outs(%q, %s : memref<512x512xf8E4M3FN>, memref<512x4xf32> as !b) recipe(<deepgemm>)
  return
}

// CHECK-LABEL: func.func @many
// CHECK-NOT: scf.if
// CHECK: gpu.launch_func @many_kernels::@many_quantize blocks in (%c512, {{.*}}
// CHECK-NOT: gpu.launch_func
func.func @many(%x: memref<8192x512xbf16>, %q: memref<8192x512xf8E4M3FN>, %s: memref<8192x4xf32>) {
  moeq.quantize input(%x : memref<8192x512xbf16>)
      outs(%q, %s : memref<8192x512xf8E4M3FN>, memref<8192x4xf32> as !b) recipe(<deepgemm>)
  return
}

// -----

// One CTA with a thread a group, and as many as there may be where that is not
// known.

// CHECK-LABEL: llvm.func @plans_plan(
// CHECK-SAME: i64) attributes {{{.*}}nvvm.maxntid = array<i32: 256, 1, 1>
// CHECK: nvvm.barrier
// CHECK: scf.for
// CHECK-LABEL: llvm.func @plans_plan_1(
// CHECK-SAME: nvvm.maxntid = array<i32: 1024, 1, 1>
// CHECK-LABEL: func.func @plans
// CHECK: gpu.launch_func @plans_kernels::@plans_plan blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
// CHECK: gpu.launch_func @plans_kernels::@plans_plan_1
func.func @plans(%o: memref<257xi32>, %t: memref<257x4xi32>, %n: index,
                 %po: memref<?xi32>, %pt: memref<?x4xi32>) {
  moeq.plan offsets(%o : memref<257xi32>) columns(%n) outs(%t : memref<257x4xi32>)
      tile_columns(256) max_width(160) ctas(132)
  %columns = arith.constant 4096 : index
  moeq.plan offsets(%po : memref<?xi32>) columns(%columns) outs(%pt : memref<?x4xi32>)
      tile_columns(256) max_width(160) ctas(132)
  return
}
