// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!map = !moeq_gpu.tensor_map<128x128xf8E4M3FN>
!map_out = !moeq_gpu.tensor_map<64x64xbf16>
!tile = !moeq_gpu.tile<128x128xf8E4M3FN>
!part = !moeq_gpu.tile<64x128xf8E4M3FN>
!staging = !moeq_gpu.tile<64x64xbf16>
!ring = !moeq_gpu.ring<4x[128x128xf8E4M3FN, 128x128xf8E4M3FN]>
!mailbox = !moeq_gpu.ring<2x[vector<4xi32>]>
!cursor = !moeq_gpu.cursor
!acc = !moeq_gpu.fragment<64x128xf32>
!half = !moeq_gpu.fragment<64x64xf32>
!rows = !moeq_gpu.fragment<64x1xf32>
!columns = !moeq_gpu.fragment<1x64xbf16>
!out = !moeq_gpu.fragment<64x64xbf16>
!schedule = !moeq_gpu.schedule<128x128, raster = 8, groups_per_lane = 2>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @kernel
  llvm.func @kernel(%param: !llvm.ptr, %param_out: !llvm.ptr, %c: !llvm.ptr<1>,
                    %offsets: !llvm.ptr<1>, %groups: i32, %n: i32,
                    %counter: !llvm.ptr<1>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %pitch = arith.extui %n : i32 to i64
    // CHECK: moeq_gpu.tensor_map %{{.*}} : <128x128xf8E4M3FN>
    %map = moeq_gpu.tensor_map %param : !map
    %map_out = moeq_gpu.tensor_map %param_out : !map_out
    // CHECK: moeq_gpu.ring.create consumers 2 : <4x[128x128xf8E4M3FN, 128x128xf8E4M3FN]>
    %ring = moeq_gpu.ring.create consumers 2 : !ring
    // CHECK: moeq_gpu.ring.create consumers 2 : <2x[vector<4xi32>]>
    %mailbox = moeq_gpu.ring.create consumers 2 : !mailbox
    // CHECK: moeq_gpu.schedule offsets(%{{.*}}) groups(%{{.*}}) columns(%{{.*}}) : <128x128, raster = 8, groups_per_lane = 2>
    %s = moeq_gpu.schedule offsets(%offsets) groups(%groups) columns(%n) : !schedule
    // CHECK: moeq_gpu.schedule.size
    %count = moeq_gpu.schedule.size %s : !schedule
    // CHECK: moeq_gpu.roles producer(40)
    moeq_gpu.roles producer(40) {
      // CHECK: moeq_gpu.ring.start : !moeq_gpu.cursor
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: moeq_gpu.ring.acquire %{{.*}}[%{{.*}}]
      moeq_gpu.ring.acquire %ring[%cursor] : !ring
      // CHECK: moeq_gpu.ring.fill %{{.*}}[%{{.*}}] from(%{{.*}}, %{{.*}} at %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
      moeq_gpu.ring.fill %ring[%cursor] from(%map, %map at %zero, %zero, %zero, %zero) : !ring, !map, !map
      // CHECK: moeq_gpu.ring.advance %{{.*}}[%{{.*}}]
      %next = moeq_gpu.ring.advance %ring[%cursor] : !ring
      // CHECK: moeq_gpu.schedule.take %{{.*}} from %{{.*}} : <128x128, raster = 8, groups_per_lane = 2>
      %taken = moeq_gpu.schedule.take %s from %counter : !schedule
      %mail = vector.broadcast %taken : i32 to vector<4xi32>
      // CHECK: moeq_gpu.ring.send %{{.*}} to %{{.*}}[%{{.*}}] : <2x[vector<4xi32>]>
      moeq_gpu.ring.send %mail to %mailbox[%cursor] : !mailbox
    // CHECK: consumers(2, 232)
    } consumers(2, 232) {
    ^bb0(%warpgroup: i32):
      // CHECK: moeq_gpu.alloc : !moeq_gpu.tile<64x64xbf16>
      %staging = moeq_gpu.alloc : !staging
      // CHECK: moeq_gpu.turn.wait %
      moeq_gpu.turn.wait %warpgroup
      // CHECK: moeq_gpu.turn.pass %
      moeq_gpu.turn.pass %warpgroup
      // CHECK: moeq_gpu.schedule.tile %{{.*}}[%{{.*}}]
      %group, %row, %end, %column = moeq_gpu.schedule.tile %s[%zero] : !schedule
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: moeq_gpu.ring.advance %{{.*}}[%{{.*}}] by %
      %skipped = moeq_gpu.ring.advance %ring[%cursor] by %zero : !ring
      // CHECK: moeq_gpu.ring.uniform %{{.*}} : !moeq_gpu.cursor
      %same = moeq_gpu.ring.uniform %skipped : !cursor
      // CHECK: moeq_gpu.ring.receive %{{.*}}[%{{.*}}] : <2x[vector<4xi32>]>
      %index = moeq_gpu.ring.receive %mailbox[%cursor] : !mailbox
      // CHECK: moeq_gpu.ring.wait
      %a, %b = moeq_gpu.ring.wait %ring[%cursor] : !ring -> !tile, !tile
      // CHECK: moeq_gpu.subtile
      %part = moeq_gpu.subtile %a[%zero] : !tile -> !part
      // CHECK: %[[D:.*]] = moeq_gpu.mma %{{.*}}, %{{.*}} : <64x128xf8E4M3FN>, <128x128xf8E4M3FN> -> !moeq_gpu.fragment<64x128xf32>
      %d = moeq_gpu.mma %part, %b : !part, !tile -> !acc
      // CHECK: moeq_gpu.mma %{{.*}}, %{{.*}}, %[[D]] :
      %d2 = moeq_gpu.mma %part, %b, %d : !part, !tile -> !acc
      // CHECK: moeq_gpu.mma %{{.*}}, %{{.*}}, %[[D]] overwrite :
      %d3 = moeq_gpu.mma %part, %b, %d overwrite : !part, !tile -> !acc
      // CHECK: moeq_gpu.mma_wait pending 1
      moeq_gpu.mma_wait pending 1
      // CHECK: moeq_gpu.mma_wait pending 0(%{{.*}} : !moeq_gpu.fragment<64x128xf32>)
      %f = moeq_gpu.mma_wait pending 0(%d2 : !acc)
      // CHECK: moeq_gpu.ring.release
      moeq_gpu.ring.release %ring[%cursor] : !ring
      // CHECK: moeq_gpu.zero : <64x64xf32>
      %z = moeq_gpu.zero : !half
      // CHECK: moeq_gpu.slice %{{.*}}[0, 64]
      %h = moeq_gpu.slice %f[0, 64] : !acc -> !half
      // CHECK: moeq_gpu.load %{{.*}}[%{{.*}}, %{{.*}}] pitch(%{{.*}}) row_end(%{{.*}}) : <64x1xf32>
      %sa = moeq_gpu.load %offsets[%row, %zero] pitch(%one) row_end(%end) : !rows
      // CHECK: moeq_gpu.load %{{.*}}[%{{.*}}, %{{.*}}] pitch(%{{.*}}) column_end(%{{.*}}) aligned : <1x64xbf16>
      %sb = moeq_gpu.load %offsets[%group, %column] pitch(%pitch) column_end(%n) aligned : !columns
      // CHECK: moeq_gpu.load %{{.*}}[%{{.*}}, %{{.*}}] pitch(%{{.*}}) transposed : <64x1xf32>
      %st = moeq_gpu.load %offsets[%row, %zero] pitch(%pitch) transposed : !rows
      // CHECK: moeq_gpu.map(%{{.*}}, %{{.*}}, %{{.*}}) at(%{{.*}}, %{{.*}})
      %v = moeq_gpu.map(%h, %z, %sa, %sb : !half, !half, !rows, !columns) at(%row, %column) {
      ^bb0(%x: f32, %y: f32, %p: f32, %q: bf16, %i: index, %j: index):
        %t = arith.truncf %x : f32 to bf16
        moeq_gpu.yield %t : bf16
      } -> !out
      // CHECK: moeq_gpu.store %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] pitch(%{{.*}}) row_end(%{{.*}}) column_end(%{{.*}}) map(%{{.*}} : !moeq_gpu.tensor_map<64x64xbf16>)
      moeq_gpu.store %v, %staging, %c[%row, %column] pitch(%pitch) row_end(%end) column_end(%n) map(%map_out : !map_out) : !out, !staging
      // CHECK: moeq_gpu.store_wait
      moeq_gpu.store_wait
    }
    llvm.return
  }
}

!pair = !moeq_gpu.ring<4x[64x128xf8E4M3FN], cluster = 2>
!numbers = !moeq_gpu.ring<4x[vector<4xi32>], cluster = 2>
!half_map = !moeq_gpu.tensor_map<32x128xf8E4M3FN>

gpu.module @cluster_kernels {
  // CHECK-LABEL: llvm.func @cluster
  llvm.func @cluster(%param: !llvm.ptr, %offsets: !llvm.ptr<1>, %groups: i32, %n: i32,
                     %counter: !llvm.ptr<1>, %same: i1)
      attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %map = moeq_gpu.tensor_map %param : !half_map
    // CHECK: moeq_gpu.ring.create consumers 2 : <4x[64x128xf8E4M3FN], cluster = 2>
    %ring = moeq_gpu.ring.create consumers 2 : !pair
    // CHECK: moeq_gpu.ring.create consumers 0 : <4x[vector<4xi32>], cluster = 2>
    %numbers = moeq_gpu.ring.create consumers 0 : !numbers
    %s = moeq_gpu.schedule offsets(%offsets) groups(%groups) columns(%n) : !schedule
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: moeq_gpu.schedule.take %{{.*}} from %{{.*}} cluster 2 :
      %taken = moeq_gpu.schedule.take %s from %counter cluster 2 : !schedule
      // CHECK: moeq_gpu.ring.fill %{{.*}}[%{{.*}}] from(%{{.*}} at %{{.*}}, %{{.*}}) shared(%{{.*}}) :
      moeq_gpu.ring.fill %ring[%cursor] from(%map at %taken, %taken) shared(%same) : !pair, !half_map
    } consumers(2, 232) {
    ^bb0(%warpgroup: i32):
    }
    llvm.return
  }
}

!sync_stages = !moeq_gpu.tile<256x64xbf16>
!sync_tile = !moeq_gpu.tile<64x64xbf16>
!sync_acc = !moeq_gpu.fragment<64x64xf32>

gpu.module @sync_kernels {
  // CHECK-LABEL: llvm.func @sync
  llvm.func @sync(%a: !llvm.ptr<1>, %indices: !llvm.ptr<1>, %row: i32, %end: i32, %n: i32) {
    %pitch = arith.extui %n : i32 to i64
    %stages = moeq_gpu.alloc : !sync_stages
    %vector = moeq_gpu.alloc : !moeq_gpu.vector<4096xi8>
    %exists = arith.cmpi ult, %row, %end : i32
    // CHECK: moeq_gpu.roles consumers(1, 240)
    moeq_gpu.roles consumers(1, 240) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !sync_tile
      // CHECK: %[[R:.*]]:4 = moeq_gpu.locate_rows %{{.*}} end(%{{.*}}) pitch(%{{.*}}) : i64, i64, i64, i64
      %r:4 = moeq_gpu.locate_rows %row end(%end) pitch(%n) : i64, i64, i64, i64
      // CHECK: moeq_gpu.locate_rows %{{.*}} end(%{{.*}}) pitch(%{{.*}}) indices(%{{.*}}) : i64
      %g = moeq_gpu.locate_rows %row end(%end) pitch(%n) indices(%indices) : i64
      %tile = moeq_gpu.subtile %stages[%warpgroup] : !sync_stages -> !sync_tile
      // CHECK: moeq_gpu.copy %{{.*}}[%{{.*}}] columns(%{{.*}}) rows(%[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3) to %{{.*}} : <64x64xbf16>
      moeq_gpu.copy %a[%row] columns(%n) rows(%r#0, %r#1, %r#2, %r#3) to %tile : !sync_tile
      // CHECK: moeq_gpu.copy_vector %{{.*}} if %{{.*}} to %{{.*}} : !moeq_gpu.vector<4096xi8>
      moeq_gpu.copy_vector %a if %exists to %vector : !moeq_gpu.vector<4096xi8>
      %zero = moeq_gpu.zero : !sync_acc
      // CHECK: moeq_gpu.mma_sync %{{.*}}, %{{.*}}, %{{.*}} : !moeq_gpu.tile<64x64xbf16>, <64x64xbf16> -> <64x64xf32>
      %d = moeq_gpu.mma_sync %tile, %tile, %zero : !sync_tile, !sync_tile -> !sync_acc
      %v = moeq_gpu.map(%d : !sync_acc) at(%row, %row) {
      ^bb0(%x: f32, %i: index, %j: index):
        %t = arith.truncf %x : f32 to bf16
        moeq_gpu.yield %t : bf16
      } -> !moeq_gpu.fragment<64x64xbf16>
      // CHECK: moeq_gpu.store %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] pitch(%{{.*}}) : <64x64xbf16>, <64x64xbf16>
      moeq_gpu.store %v, %staging, %a[%row, %row] pitch(%pitch) : !moeq_gpu.fragment<64x64xbf16>, !sync_tile
    }
    llvm.return
  }
}

!maps = !moeq_gpu.tensor_map<40x128xf8E4M3FN, step = 8>
!weights = !moeq_gpu.tile<128x128xf8E4M3FN>
!tokens = !moeq_gpu.tile<40x128xf8E4M3FN>
!swapped_ring = !moeq_gpu.ring<4x[40x128xf8E4M3FN, 128x128xf8E4M3FN]>
!swapped_schedule = !moeq_gpu.schedule<40x128, step = 8, groups_per_lane = 1>

gpu.module @swapped_kernels {
  // CHECK-LABEL: llvm.func @swapped
  llvm.func @swapped(%params: !llvm.ptr, %param: !llvm.ptr, %c: !llvm.ptr<1>,
                     %offsets: !llvm.ptr<1>, %groups: i32, %n: i32) {
    %zero = arith.constant 0 : i32
    %pitch = arith.extui %n : i32 to i64
    // CHECK: moeq_gpu.tensor_map %{{.*}} : <40x128xf8E4M3FN, step = 8>
    %maps = moeq_gpu.tensor_map %params : !maps
    %map = moeq_gpu.tensor_map %param : !map
    %ring = moeq_gpu.ring.create consumers 1 : !swapped_ring
    // CHECK: moeq_gpu.schedule offsets(%{{.*}}) groups(%{{.*}}) columns(%{{.*}}) : <40x128, step = 8, groups_per_lane = 1>
    %s = moeq_gpu.schedule offsets(%offsets) groups(%groups) columns(%n) : !swapped_schedule
    // CHECK: moeq_gpu.schedule plan(%{{.*}}) groups(%{{.*}}) columns(%{{.*}}) : <40x128, planned step = 8, groups_per_lane = 1>
    %planned = moeq_gpu.schedule plan(%offsets) groups(%groups) columns(%n) : !moeq_gpu.schedule<40x128, planned step = 8, groups_per_lane = 1>
    // CHECK: moeq_gpu.schedule counts(%{{.*}}) groups(%{{.*}}) rows(%{{.*}}) columns(%{{.*}}) : <40x128, step = 8, groups_per_lane = 1, masked = true>
    %masked = moeq_gpu.schedule counts(%offsets) groups(%groups) rows(%n) columns(%n) : !moeq_gpu.schedule<40x128, step = 8, groups_per_lane = 1, masked = true>
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: moeq_gpu.ring.fill %{{.*}}[%{{.*}}] from(%{{.*}}, %{{.*}} at %{{.*}}) rows(%{{.*}})
      moeq_gpu.ring.fill %ring[%cursor] from(%maps, %map at %zero, %zero, %zero, %zero) rows(%n) : !swapped_ring, !maps, !map
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %staging = moeq_gpu.alloc : !moeq_gpu.tile<32x64xbf16>
      %group, %row, %end, %column = moeq_gpu.schedule.tile %s[%zero] : !swapped_schedule
      %cursor = moeq_gpu.ring.start : !cursor
      %b, %a = moeq_gpu.ring.wait %ring[%cursor] : !swapped_ring -> !tokens, !weights
      // CHECK: moeq_gpu.load_striped %{{.*}}[%{{.*}}] end(%{{.*}}) : <40xf32>
      %v = moeq_gpu.load_striped %offsets[%row] end(%end) : !moeq_gpu.striped<40xf32>
      // CHECK: moeq_gpu.mma {{.*}} -> !moeq_gpu.fragment<128x40xf32>
      %d = moeq_gpu.mma %a, %b : !weights, !tokens -> !moeq_gpu.fragment<128x40xf32>
      // CHECK: moeq_gpu.slice %{{.*}}[64, 32]
      %part = moeq_gpu.slice %d[64, 32] : !moeq_gpu.fragment<128x40xf32> -> !moeq_gpu.fragment<64x8xf32>
      // CHECK: %[[VECTOR:.*]] = moeq_gpu.alloc : !moeq_gpu.vector<48xf32>
      %vector = moeq_gpu.alloc : !moeq_gpu.vector<48xf32>
      // CHECK: moeq_gpu.store_striped %{{.*}}, %[[VECTOR]] : <40xf32>, <48xf32>
      moeq_gpu.store_striped %v, %vector : !moeq_gpu.striped<40xf32>, !moeq_gpu.vector<48xf32>
      // CHECK: moeq_gpu.spread %[[VECTOR]][32] : <48xf32> -> <1x8xf32>
      %x = moeq_gpu.spread %vector[32] : !moeq_gpu.vector<48xf32> -> !moeq_gpu.fragment<1x8xf32>
      // CHECK: moeq_gpu.load {{.*}} transposed : <64x8xf32>
      %y = moeq_gpu.load %c[%row, %column] pitch(%pitch) row_end(%end) transposed : !moeq_gpu.fragment<64x8xf32>
      %z = moeq_gpu.map(%part, %x, %y : !moeq_gpu.fragment<64x8xf32>, !moeq_gpu.fragment<1x8xf32>, !moeq_gpu.fragment<64x8xf32>) at(%column, %row) {
      ^bb0(%p: f32, %q: f32, %r: f32, %i: index, %j: index):
        %t = arith.truncf %p : f32 to bf16
        moeq_gpu.yield %t : bf16
      } -> !moeq_gpu.fragment<64x8xbf16>
      // CHECK: moeq_gpu.barrier
      moeq_gpu.barrier
      // CHECK: moeq_gpu.store_transposed %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] pitch(%{{.*}}) row_end(%{{.*}}) column_end(%{{.*}}) : <64x8xbf16>, <32x64xbf16>
      moeq_gpu.store_transposed %z, %staging, %c[%row, %column] pitch(%pitch) row_end(%end) column_end(%n) : !moeq_gpu.fragment<64x8xbf16>, !moeq_gpu.tile<32x64xbf16>
    }
    llvm.return
  }
}

// CHECK-LABEL: func.func @host
func.func @host(%w: memref<8x256x128xf8E4M3FN>) {
  // CHECK: moeq_gpu.encode_tensor_map %{{.*}} : memref<8x256x128xf8E4M3FN> -> <128x128xf8E4M3FN>
  %0 = moeq_gpu.encode_tensor_map %w : memref<8x256x128xf8E4M3FN> -> !map
  return
}

!gathered = !moeq_gpu.ring<4x[gathered 160x128xf8E4M3FN, 128x128xf8E4M3FN, gathered 160xf32]>
!staged = !moeq_gpu.ring<4x[40x128xf8E4M3FN, 128x128xf8E4M3FN, 44xf32, 128xbf16]>
!map_vector = !moeq_gpu.tensor_map<1x44xf32>
!map_others = !moeq_gpu.tensor_map<1x128xbf16>

gpu.module @gathered_kernels {
  // CHECK-LABEL: llvm.func @gathered
  llvm.func @gathered(%param: !llvm.ptr, %a: !llvm.ptr<1>, %index: !llvm.ptr<1>, %row: i32, %end: i32, %k: i32, %n: i32) {
    %pitch = arith.extui %n : i32 to i64
    %map = moeq_gpu.tensor_map %param : !map
    // CHECK: moeq_gpu.ring.create consumers 1 : <4x[gathered 160x128xf8E4M3FN, 128x128xf8E4M3FN, gathered 160xf32]>
    %ring = moeq_gpu.ring.create consumers 1 : !gathered
    // CHECK: moeq_gpu.ring.create consumers 1 warps 3 : <2x[vector<4xi32>]>
    %mailbox = moeq_gpu.ring.create consumers 1 warps 3 : !mailbox
    moeq_gpu.roles producer(40) {
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: %[[I:.*]]:2 = moeq_gpu.load_indices %{{.*}}[%{{.*}}] end(%{{.*}}) : i32, i32
      %i:2 = moeq_gpu.load_indices %index[%row] end(%end) : i32, i32
      moeq_gpu.ring.fill %ring[%cursor] from(%map at %row, %k) : !gathered, !map
      // CHECK: moeq_gpu.ring.gather %{{.*}}[%{{.*}}] from(%{{.*}}, %{{.*}}) pitch(%{{.*}}) indices(%[[I]]#0, %[[I]]#1)
      moeq_gpu.ring.gather %ring[%cursor] from(%a, %k) pitch(%n) indices(%i#0, %i#1) : !gathered
    // CHECK: } helpers {
    } helpers {
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: %[[O:.*]]:2 = moeq_gpu.load_indices[%{{.*}}] end(%{{.*}}) : i32, i32
      %own:2 = moeq_gpu.load_indices [%row] end(%end) : i32, i32
      // CHECK: moeq_gpu.ring.gather_vector %{{.*}}[%{{.*}}] number 0 from(%{{.*}}, %{{.*}}) pitch(%{{.*}}) indices(%[[O]]#0, %[[O]]#1)
      moeq_gpu.ring.gather_vector %ring[%cursor] number 0 from(%a, %pitch) pitch(%pitch) indices(%own#0, %own#1) : !gathered
      // CHECK: moeq_gpu.ring.gathered %{{.*}}[%{{.*}}]
      moeq_gpu.ring.gathered %ring[%cursor] : !gathered
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      // CHECK: moeq_gpu.load {{.*}} row_end(%{{.*}}) indices(%{{.*}}) : <64x1xf32>
      %s = moeq_gpu.load %a[%row, %k] pitch(%pitch) row_end(%end) indices(%index) : !moeq_gpu.fragment<64x1xf32>
      // CHECK: moeq_gpu.load_striped %{{.*}}[%{{.*}}] end(%{{.*}}) indices(%{{.*}}) : <40xf32>
      %t = moeq_gpu.load_striped %a[%row] end(%end) indices(%index) : !moeq_gpu.striped<40xf32>
    }
    llvm.return
  }

  // CHECK-LABEL: llvm.func @staged
  llvm.func @staged(%param: !llvm.ptr, %row: i32, %k: i32) {
    %maps = moeq_gpu.tensor_map %param : !maps
    %map = moeq_gpu.tensor_map %param : !map
    // CHECK: moeq_gpu.tensor_map %{{.*}} : <1x44xf32>
    %vector = moeq_gpu.tensor_map %param : !map_vector
    %others = moeq_gpu.tensor_map %param : !map_others
    // CHECK: moeq_gpu.ring.create consumers 1 : <4x[40x128xf8E4M3FN, 128x128xf8E4M3FN, 44xf32, 128xbf16]>
    %ring = moeq_gpu.ring.create consumers 1 : !staged
    moeq_gpu.roles producer(24) {
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: moeq_gpu.ring.fill {{.*}} from(%{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} at
      moeq_gpu.ring.fill %ring[%cursor] from(%maps, %map, %vector, %others at %row, %k, %row, %k, %k, %row, %k, %row) rows(%row)
          : !staged, !maps, !map, !map_vector, !map_others
    } consumers(1, 208) {
    ^bb0(%warpgroup: i32):
      %cursor = moeq_gpu.ring.start : !cursor
      // CHECK: %[[PARTS:.*]]:4 = moeq_gpu.ring.wait
      %parts:4 = moeq_gpu.ring.wait %ring[%cursor] : !staged -> !tokens, !weights, !moeq_gpu.vector<44xf32>, !moeq_gpu.vector<128xbf16>
      // CHECK: moeq_gpu.spread %[[PARTS]]#2[0] from(%{{.*}}) : <44xf32> -> <1x40xf32>
      %s = moeq_gpu.spread %parts#2[0] from(%row) : !moeq_gpu.vector<44xf32> -> !moeq_gpu.fragment<1x40xf32>
      // CHECK: moeq_gpu.spread %[[PARTS]]#3[64] : <128xbf16> -> <64x1xbf16>
      %t = moeq_gpu.spread %parts#3[64] : !moeq_gpu.vector<128xbf16> -> !moeq_gpu.fragment<64x1xbf16>
    }
    llvm.return
  }
}
