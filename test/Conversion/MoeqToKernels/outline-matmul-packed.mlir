// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Packed weights: no tensor map, a bulk copy for each 64 rows of the tile, and
// matmuls in flight while the next stage is waited for. Few rows have two tiles
// of K a stage.
// CHECK-LABEL: llvm.func @up_grouped_matmul(
// CHECK-COUNT-1:   llvm.byval
// CHECK:         %[[MAPS:.*]] = moeq_gpu.tensor_map %{{.*}} : <64x64xbf16, step = 16>
// CHECK-NOT:     moeq_gpu.tensor_map
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[64x64xbf16, 64x64xbf16, 16384xi8]>
// CHECK:         moeq_gpu.roles producer
// CHECK:           %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[%
// CHECK:           %[[SECOND:.*]] = llvm.getelementptr %[[FIRST]][32768]
// CHECK:           moeq_gpu.ring.fill %{{.*}} from(%[[MAPS]], %[[MAPS]] at %{{.*}}) sources(%[[FIRST]], %[[SECOND]]) rows(%
// CHECK:         } consumers(2,
// Few widths, the least of which is enough.
// CHECK:           scf.index_switch
// CHECK-NEXT:      case 1 {
// CHECK:             moeq_gpu.subvector %{{.*}} : !moeq_gpu.vector<16384xi8> -> !moeq_gpu.vector<4096xi8>
// CHECK:             %[[A:.*]] = moeq_gpu.dequant {{.*}} as i8
// CHECK:             %[[B:.*]] = moeq_gpu.dequant {{.*}} as i8
// CHECK:             %[[C:.*]] = moeq_gpu.mma_rs %[[A]], %{{.*}} : <64x64xbf16>, <16x64xbf16> -> !moeq_gpu.fragment<64x16xf32>
// CHECK:             %[[D:.*]] = moeq_gpu.mma_rs %[[B]], {{.*}} %[[C]]
// CHECK:             moeq_gpu.ring.wait
// CHECK:             %[[NEXT:.*]] = moeq_gpu.dequant
// CHECK:             moeq_gpu.mma_wait pending 0 reading(%[[A]], %[[B]] :
// CHECK:             moeq_gpu.ring.release
// CHECK:             scf.while {{.*}} = %[[D]], %{{.*}} = %[[NEXT]]
// CHECK-COUNT-4:       moeq_gpu.mma_rs
// CHECK:           case 2 {
// CHECK:           case 4 {
// CHECK:           default {
!w = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @up(%x: memref<?x512xbf16>, %w: memref<8x512x512xi8>, %ws: memref<8x512x1xf32>, %o: memref<9xi32>, %c: memref<?x512xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x512xbf16>) rhs(%w, %ws : memref<8x512x512xi8>, memref<8x512x1xf32> as !w)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x512xbf16>) config(<tile = [64, 128], schedule = dynamic, swap_ab = true>)
  return
}

// -----

// Scales and zeros of groups come beside them; sums of a group, two stages, are
// promoted, in parts of as many tokens as an instruction is fast for. A tile
// beyond the last rows copies those once more. Chunks of the epilogue are of one
// part each.
// CHECK-LABEL: llvm.func @groups_grouped_matmul(
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[144x64xbf16, 4096xi8, 128xbf16, 128xi8]>
// CHECK:           arith.minui
// CHECK:           sources(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) rows(%
// There is code for half of the rows, rounded up.
// CHECK:           scf.index_switch
// CHECK-NEXT:      case 5 {
// CHECK:             moeq_gpu.mma_rs {{.*}} <80x64xbf16> -> !moeq_gpu.fragment<64x80xf32>
// CHECK:           case 9 {
// CHECK:           moeq_gpu.spread {{.*}}[0] : <64xbf16> -> <64x1xbf16>
// CHECK:           %[[A:.*]] = moeq_gpu.dequant {{.*}} as ui4 zeros(%{{.*}} : !moeq_gpu.vector<64xi8>)
// CHECK:           %[[B:.*]] = moeq_gpu.dequant
// CHECK-COUNT-3:   moeq_gpu.mma_rs %[[A]], {{.*}} <48x64xbf16> -> !moeq_gpu.fragment<64x48xf32>
// CHECK:           moeq_gpu.map(
// CHECK:             math.fma
// CHECK:           moeq_gpu.slice %{{.*}}[0, 32] : <64x48xf32> -> <64x16xf32>
!u = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8, packing = fragments>
func.func @groups(%x: memref<?x512xbf16>, %w: memref<8x192x256xi8>, %ws: memref<8x192x4xbf16>, %wz: memref<8x192x4xi8>, %o: memref<9xi32>, %c: memref<?x192xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x512xbf16>) rhs(%w, %ws, %wz : memref<8x192x256xi8>, memref<8x192x4xbf16>, memref<8x192x4xi8> as !u)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x192xbf16>) config(<tile = [144, 128], schedule = dynamic, swap_ab = true>)
  return
}

// -----

// E8M0 scales are part of the weight.
// CHECK-LABEL: llvm.func @mx_grouped_matmul(
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[64x64xbf16, 64x64xbf16, 8192xi8, 512xf8E8M0FNU]>
// CHECK:           %[[A:.*]] = moeq_gpu.dequant {{.*}} as f4E2M1FN scales(%{{.*}} : !moeq_gpu.vector<128xf8E8M0FNU>)
// CHECK:           %[[B:.*]] = moeq_gpu.dequant {{.*}} as f4E2M1FN scales(%{{.*}} : !moeq_gpu.vector<128xf8E8M0FNU>)
// CHECK:           moeq_gpu.mma_rs %[[A]]
// CHECK:           moeq_gpu.mma_rs %[[B]]
// CHECK-NOT:       moeq_gpu.spread
!m = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU, packing = fragments>
func.func @mx(%x: memref<?x512xbf16>, %w: memref<8x128x256xi8>, %ws: memref<8x128x16xf8E8M0FNU>, %o: memref<9xi32>, %c: memref<?x128xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x512xbf16>) rhs(%w, %ws : memref<8x128x256xi8>, memref<8x128x16xf8E8M0FNU> as !m)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x128xbf16>) config(<tile = [64, 128], schedule = dynamic, swap_ab = true>)
  return
}

// -----

// Few rows: warps multiply for themselves, each width in steps of 8 with a sum
// of a group that starts from zeros. Nothing is waited for but the stage.
// CHECK-LABEL: llvm.func @warps_grouped_matmul(
// CHECK:         moeq_gpu.tensor_map %{{.*}} : <32x64xbf16, step = 8>
// CHECK:         consumers(4,
// CHECK:           scf.index_switch
// CHECK-NEXT:      case 1 {
// CHECK:             %[[ZERO:.*]] = moeq_gpu.zero : <64x8xf32>
// CHECK:             moeq_gpu.ring.wait
// CHECK:             %[[A:.*]] = moeq_gpu.dequant {{.*}} as ui4 zeros(%{{.*}} : !moeq_gpu.vector<64xi8>)
// CHECK:             %[[B:.*]] = moeq_gpu.dequant
// CHECK:             %[[C:.*]] = moeq_gpu.mma_sync %[[A]], %{{.*}}, %[[ZERO]] : !moeq_gpu.operand<64x64xbf16>, <8x64xbf16> -> <64x8xf32>
// CHECK:             %[[D:.*]] = moeq_gpu.mma_sync %[[B]], %{{.*}}, %[[C]]
// CHECK-NEXT:        moeq_gpu.ring.release
// CHECK:             moeq_gpu.map(%[[D]],
// CHECK:             moeq_gpu.barrier
// CHECK:           case 2 {
// CHECK:           case 3 {
// CHECK:           case 4 {
// CHECK:             moeq_gpu.zero : <64x32xf32>
// CHECK-NOT:     moeq_gpu.mma_wait
!u = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8, packing = fragments>
func.func @warps(%x: memref<?x512xbf16>, %w: memref<8x256x256xi8>, %ws: memref<8x256x4xbf16>, %wz: memref<8x256x4xi8>, %o: memref<9xi32>, %c: memref<?x256xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x512xbf16>) rhs(%w, %ws, %wz : memref<8x256x256xi8>, memref<8x256x4xbf16>, memref<8x256x4xi8> as !u)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x256xbf16>) config(<tile = [32, 256], consumers = 4, schedule = dynamic, swap_ab = true>)
  return
}

// -----

// Five steps of promoted sums: two pairs in the loop and one behind it, none
// before.
// CHECK-LABEL: llvm.func @odd_grouped_matmul(
// CHECK:         case 4 {
// CHECK-NOT:       moeq_gpu.mma_rs
// CHECK:           scf.while
// CHECK-COUNT-4:     moeq_gpu.mma_rs
// CHECK:             scf.condition
// CHECK-COUNT-2:   moeq_gpu.mma_rs
// CHECK-NOT:       moeq_gpu.mma_rs
// CHECK:         default {
!u = !moeq.scaled<ui4, block = [128], scale = bf16, packing = fragments>
func.func @odd(%x: memref<?x640xbf16>, %w: memref<8x128x320xi8>, %ws: memref<8x128x5xbf16>, %o: memref<9xi32>, %c: memref<?x128xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x640xbf16>) rhs(%w, %ws : memref<8x128x320xi8>, memref<8x128x5xbf16> as !u)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x128xbf16>) config(<tile = [64, 128], schedule = dynamic, swap_ab = true>)
  return
}

// -----

// Groups of half a stage: a sum for each, of half of the operand's columns.
// CHECK-LABEL: llvm.func @short_grouped_matmul(
// CHECK:           case 4 {
// CHECK:             %[[S0:.*]] = moeq_gpu.spread %{{.*}}[0] : <128xbf16> -> <64x1xbf16>
// CHECK:             %[[S1:.*]] = moeq_gpu.spread %{{.*}}[64] : <128xbf16> -> <64x1xbf16>
// CHECK:             %[[W:.*]] = moeq_gpu.dequant {{.*}} as i4
// CHECK:             %[[P0:.*]] = moeq_gpu.mma_rs %[[W]], %{{.*}} part 0 of 2 :
// CHECK:             %[[NEXT:.*]] = moeq_gpu.dequant
// CHECK:             %[[D0:.*]] = moeq_gpu.mma_wait pending 0(%[[P0]] : !moeq_gpu.fragment<64x64xf32>) reading(%[[W]] :
// CHECK:             moeq_gpu.map(%[[D0]], %{{.*}}, %[[S0]] :
// CHECK:             %[[P1:.*]] = moeq_gpu.mma_rs %[[W]], %{{.*}} part 1 of 2 :
// CHECK:             %[[D1:.*]] = moeq_gpu.mma_wait pending 0(%[[P1]] : !moeq_gpu.fragment<64x64xf32>) reading(%[[W]] :
// CHECK:             moeq_gpu.ring.release
// CHECK:             moeq_gpu.map(%[[D1]], %{{.*}}, %[[S1]] :
// CHECK:             moeq_gpu.mma_rs %[[NEXT]], %{{.*}} part 0 of 2 :
!s = !moeq.scaled<i4, block = [32], scale = bf16, packing = fragments>
func.func @short(%x: memref<?x128xbf16>, %w: memref<8x128x64xi8>, %ws: memref<8x128x4xbf16>, %o: memref<9xi32>, %c: memref<?x128xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x128xbf16>) rhs(%w, %ws : memref<8x128x64xi8>, memref<8x128x4xbf16> as !s)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x128xbf16>) config(<tile = [64, 128], schedule = dynamic, swap_ab = true>)
  return
}

// -----

// CTAs that share a multiprocessor: equal parts of its registers, wgmma for few
// rows too, sums of few tokens that are promoted, and as many CTAs more.
// CHECK-LABEL: llvm.func @shared_grouped_matmul(
// CHECK-SAME:    nvvm.minctasm = 2
// CHECK:         moeq_gpu.ring.create consumers 2 : <3x[64x64xbf16, 64x64xbf16, 8192xi8, 128xbf16]>
// CHECK:         moeq_gpu.roles producer(32) {
// CHECK:         } consumers(2, 104) {
// CHECK-NOT:       moeq_gpu.mma_sync
// CHECK:           case 4 {
// CHECK-COUNT-4:     moeq_gpu.mma_rs {{.*}} <32x64xbf16> -> !moeq_gpu.fragment<64x32xf32>
// CHECK-LABEL: func.func @shared(
// CHECK:         %[[MOST:.*]] = arith.constant 264 : index
// CHECK:         arith.minui %{{.*}}, %[[MOST]]
!s = !moeq.scaled<i4, block = [128], scale = bf16, packing = fragments>
func.func @shared(%x: memref<?x512xbf16>, %w: memref<8x512x256xi8>, %ws: memref<8x512x4xbf16>, %o: memref<9xi32>, %c: memref<?x512xbf16>) {
  moeq.grouped_matmul lhs(%x : memref<?x512xbf16>) rhs(%w, %ws : memref<8x512x256xi8>, memref<8x512x4xbf16> as !s)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x512xbf16>) config(<tile = [64, 128], stages = 3, schedule = dynamic, swap_ab = true, ctas = 2>)
  return
}
