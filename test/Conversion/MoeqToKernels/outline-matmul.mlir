// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// The kernel: three tensor maps by value, the buffers, no sizes.
// CHECK-LABEL: gpu.module @up_kernels
// CHECK:         llvm.func @up_grouped_matmul(
// CHECK-SAME:        llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant
// CHECK-SAME:        !llvm.ptr<1> {llvm.noalias}, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}
// CHECK-SAME:        attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32}
// CHECK:           moeq_gpu.ring.create consumers 2 : <4x[128x128xf8E4M3FN, 256x128xf8E4M3FN]>
// CHECK:           moeq_gpu.schedule offsets
// CHECK-SAME:        <128x256, raster = 16, groups_per_lane = 1>
// CHECK:           moeq_gpu.roles producer(40) {
// CHECK:             scf.for
// CHECK:               moeq_gpu.schedule.tile
// CHECK:               scf.for
// CHECK:                 moeq_gpu.ring.acquire
// CHECK:                 moeq_gpu.ring.fill
// CHECK:           } consumers(2, 232) {
// CHECK:             scf.for
// CHECK:               moeq_gpu.schedule.tile
// CHECK:               scf.if
// The scales of the rows are loaded before the loop over K.
// CHECK:                 moeq_gpu.load {{.*}} : <64x1xf32>
// CHECK:                 moeq_gpu.mma %{{[^,]*}}, %{{[^,]*}} :
// CHECK:                 scf.for
// CHECK:                   moeq_gpu.mma %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} :
// CHECK:                   moeq_gpu.mma_wait pending 1
// CHECK:                   moeq_gpu.ring.release
// CHECK:                 moeq_gpu.mma_wait pending 0
// CHECK:                 moeq_gpu.map
// The product of the scales is formed first; one rounding.
// CHECK-NEXT:            ^bb0(%[[ACC:.*]]: f32, %[[SA:.*]]: f32, %[[SB:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:              %[[S:.*]] = arith.mulf %[[SA]], %[[SB]] : f32
// CHECK-NEXT:              %[[X:.*]] = arith.mulf %[[ACC]], %[[S]] : f32
// CHECK-NEXT:              %[[Y:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK-NEXT:              moeq_gpu.yield %[[Y]] : bf16
// CHECK:                 moeq_gpu.store
// CHECK:               } else {
// CHECK:                   moeq_gpu.ring.wait
// CHECK-NEXT:              moeq_gpu.ring.release

// CHECK-LABEL: func.func @up(
// CHECK-SAME:      %[[A:[^:]*]]: memref<?x4096xf8E4M3FN>, %[[SA:[^:]*]]: memref<?x1xf32>, %[[W:[^:]*]]: memref<8x14336x4096xf8E4M3FN>, %[[SW:[^:]*]]: memref<8x14336x1xf32>, %[[O:[^:]*]]: memref<9xi32>, %[[C:[^:]*]]: memref<?x14336xbf16>
// CHECK-DAG:     %[[SHARED:.*]] = arith.constant 229440 : i32
// CHECK-DAG:     %[[MA:.*]] = moeq_gpu.encode_tensor_map %[[A]] : memref<?x4096xf8E4M3FN> -> <128x128xf8E4M3FN>
// CHECK-DAG:     %[[MW:.*]] = moeq_gpu.encode_tensor_map %[[W]] : memref<8x14336x4096xf8E4M3FN> -> <256x128xf8E4M3FN>
// CHECK-DAG:     %[[MC:.*]] = moeq_gpu.encode_tensor_map %[[C]] : memref<?x14336xbf16> -> <64x64xbf16>
// CHECK:         gpu.launch_func @up_kernels::@up_grouped_matmul
// CHECK-SAME:      dynamic_shared_memory_size %[[SHARED]]
// CHECK-SAME:      args(%[[MA]] : {{.*}}, %[[MW]] : {{.*}}, %[[MC]] : {{.*}}, %[[C]] : {{.*}}, %[[O]] : {{.*}}, %[[SA]] : {{.*}}, %[[SW]] :
func.func @up(%a: memref<?x4096xf8E4M3FN>, %sa: memref<?x1xf32>,
              %w: memref<8x14336x4096xf8E4M3FN>, %sw: memref<8x14336x1xf32>,
              %o: memref<9xi32>, %c: memref<?x14336xbf16>) {
  moeq.grouped_matmul
    lhs(%a, %sa : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
    rhs(%w, %sw : memref<8x14336x4096xf8E4M3FN>, memref<8x14336x1xf32> as !a)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x14336xbf16>) accumulate(<fast>)
  return
}

// -----

// Dynamic sizes are parameters, the epilogue's region is in the map, captured
// scalars come along.
// CHECK-LABEL: llvm.func @mm_matmul
// CHECK-SAME:      %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[K:[^:]*]]: i32, %[[ALPHA:[^:]*]]: f32)
// CHECK:         moeq_gpu.schedule rows(%[[M]]) columns(%[[N]])
// CHECK:         moeq_gpu.map
// CHECK-NEXT:    ^bb0(%[[ACC:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:      %[[X:.*]] = arith.addf %[[ACC]], %[[B]] : f32
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[ALPHA]] : f32
// CHECK-NEXT:      moeq_gpu.yield %[[Y]] : f32
// CHECK-LABEL: func.func @mm
// CHECK:         gpu.launch_func @mm_kernels::@mm_matmul
// CHECK-SAME:      : i32, %{{.*}} : i32, %{{.*}} : i32, %{{.*}} : f32)
func.func @mm(%a: memref<?x?xbf16>, %w: memref<?x?xbf16>, %bias: memref<?xf32>, %alpha: f32,
              %c: memref<?x?xf32>) {
  moeq.matmul lhs(%a : memref<?x?xbf16>) rhs(%w : memref<?x?xbf16>) outs(%c : memref<?x?xf32>)
    epilogue(%bias : memref<?xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32):
      %x = arith.addf %acc, %b : f32
      %y = arith.mulf %x, %alpha : f32
      moeq.yield %y : f32
  }
  return
}

// -----

// The config says the tile; many groups are several a lane.
// CHECK-LABEL: llvm.func @many_grouped_matmul
// CHECK:         moeq_gpu.ring.create consumers 1 : <6x[64x64xf16, 128x64xf16]>
// CHECK:         moeq_gpu.schedule offsets
// CHECK-SAME:      <64x128, raster = 4, groups_per_lane = 8>
func.func @many(%a: memref<?x512xf16>, %w: memref<256x512x512xf16>, %o: memref<257xi32>,
                %c: memref<?x512xf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xf16>) rhs(%w : memref<256x512x512xf16>)
    offsets(%o : memref<257xi32>) outs(%c : memref<?x512xf16>)
    config(<tile = [64, 128], stages = 6, consumers = 1, raster = 4>)
  return
}

// -----

// A dynamic schedule: the producer takes the next tile before the last stage of
// this one, and consumers get it by mail.
// CHECK-LABEL: llvm.func @dynamic_grouped_matmul
// CHECK-SAME:      %[[COUNTER:[^:]*]]: !llvm.ptr<1> {llvm.noalias}) attributes
// CHECK:         %[[NONE:.*]] = arith.constant dense<-1> : vector<4xi32>
// CHECK:         moeq_gpu.ring.create consumers 2 : <4x[128x64xbf16, 256x64xbf16]>
// CHECK:         %[[MAILBOX:.*]] = moeq_gpu.ring.create consumers 2 : <4x[vector<4xi32>]>
// CHECK:         %[[FIRST:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK:         %[[COUNT:.*]] = moeq_gpu.schedule.size
// CHECK:         moeq_gpu.roles
// CHECK:           scf.while (%{{.*}} = %{{.*}}, %[[MAIL:.*]] = %{{.*}}, %[[TAKEN:.*]] = %[[FIRST]])
// CHECK:             %[[INDEX:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[TAKEN]], %c0_i32
// CHECK:             %[[EXISTS:.*]] = arith.cmpi ult, %[[INDEX]], %[[COUNT]]
// CHECK:             %[[TILE:.*]] = scf.if %[[EXISTS]]
// CHECK:               moeq_gpu.schedule.tile %{{.*}}[%[[INDEX]]]
// CHECK:             } else {
// CHECK-NEXT:          scf.yield %[[NONE]]
// CHECK:             moeq_gpu.ring.acquire %[[MAILBOX]][%[[MAIL]]]
// CHECK:             moeq_gpu.ring.send %[[TILE]] to %[[MAILBOX]][%[[MAIL]]]
// CHECK:             arith.cmpi ne
// CHECK:             scf.condition
// CHECK:             scf.for
// CHECK:               moeq_gpu.ring.fill
// CHECK:             %[[NEXT:.*]] = moeq_gpu.schedule.take %{{.*}} from %[[COUNTER]]
// CHECK:             moeq_gpu.ring.fill
// CHECK:             scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]
// CHECK:         } consumers
// CHECK:           scf.while
// CHECK:             %[[GOT:.*]] = moeq_gpu.ring.receive %[[MAILBOX]]
// CHECK:             moeq_gpu.ring.release %[[MAILBOX]]
// CHECK:             %[[GROUP:.*]] = vector.extract %[[GOT]][0]
// CHECK:             arith.cmpi ne, %[[GROUP]]

// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[ZERO:.*]] = memref.alloc() {moeq.zeroed} : memref<1xi32>
// CHECK:         gpu.launch_func
// CHECK-SAME:      %[[ZERO]] : memref<1xi32>)
func.func @dynamic(%a: memref<?x512xbf16>, %w: memref<8x512x512xbf16>, %o: memref<9xi32>,
                   %c: memref<?x512xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x512xbf16>) rhs(%w : memref<8x512x512xbf16>)
    offsets(%o : memref<9xi32>) outs(%c : memref<?x512xbf16>)
    config(<tile = [128, 256], schedule = dynamic>)
  return
}
