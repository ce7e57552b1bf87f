// RUN: moeq-opt %s --moeq-to-linalg | FileCheck %s

// Counts, offsets, then the rows in order; the scratch is freed.
// CHECK-LABEL: func @group
// CHECK-SAME:    (%[[IDS:.*]]: memref<?x2xi32>, %[[R:.*]]: memref<?xi32>, %[[S:.*]]: memref<?x2xi32>, %[[O:.*]]: memref<9xi32>)
// CHECK:         linalg.generic {{.*}} outs(%[[R]]
// CHECK:         linalg.generic {{.*}} outs(%[[S]]
// CHECK:         %[[COUNTS:.*]] = memref.alloc
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[IN:.*]] = arith.cmpi ult
// CHECK:             scf.if %[[IN]]
// CHECK:         scf.for {{.*}} -> (index, index)
// CHECK:           memref.store %{{.*}}, %[[O]]
// CHECK:         memref.store %{{.*}}, %[[O]]
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[R]]
// CHECK:           memref.store %{{.*}}, %[[S]]
// CHECK:         memref.dealloc %[[COUNTS]]
func.func @group(%ids: memref<?x2xi32>, %r: memref<?xi32>, %s: memref<?x2xi32>, %o: memref<9xi32>) {
  moeq.group ids(%ids : memref<?x2xi32>)
      outs(%r, %s, %o : memref<?xi32>, memref<?x2xi32>, memref<9xi32>)
  return
}

// CHECK-LABEL: func @group_all
// CHECK-SAME:    %[[MAP:[^:]*]]: memref<32xi32>
// CHECK-SAME:    %[[P:[^:]*]]: memref<9xi32>, %[[SW:[^:]*]]: memref<?xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[SW]]
// CHECK:         memref.load %[[MAP]]
// CHECK:         arith.ceildivui %{{.*}}, %c128
// CHECK:         memref.store %{{.*}}, %[[P]]
// CHECK:         memref.store %{{.*}}, %[[SW]]
func.func @group_all(%ids: memref<?x2xi32>, %map: memref<32xi32>, %w: memref<?x2xf32>,
                     %r: memref<?xi32>, %s: memref<?x2xi32>, %o: memref<9xi32>,
                     %p: memref<9xi32>, %sw: memref<?xf32>) {
  moeq.group ids(%ids : memref<?x2xi32>) expert_map(%map : memref<32xi32>) weights(%w : memref<?x2xf32>)
      outs(%r, %s, %o : memref<?xi32>, memref<?x2xi32>, memref<9xi32>)
      padded_offsets(%p : memref<9xi32>) sorted_weights(%sw : memref<?xf32>)
  return
}

// Values and scales alike; a negative row keeps what is there.
// CHECK-LABEL: func @gather
// CHECK-SAME:    (%[[X:.*]]: memref<?x32xi8>, %[[SX:.*]]: memref<?x2xf32>, %[[ROWS:.*]]: memref<?xi32>, %[[Y:.*]]: memref<?x32xi8>, %[[SY:.*]]: memref<?x2xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[Y]]
// CHECK:         ^bb0(%[[INIT:.*]]: i8):
// CHECK:           memref.load %[[ROWS]]
// CHECK:           scf.if {{.*}} -> (i8)
// CHECK:             memref.load %[[X]]
// CHECK:           else
// CHECK:             scf.yield %[[INIT]]
// CHECK:         linalg.generic {{.*}} outs(%[[SY]]
// CHECK:             memref.load %[[SX]]
!q = !moeq.scaled<i4, block = [32], scale = f32>
func.func @gather(%x: memref<?x32xi8>, %sx: memref<?x2xf32>, %rows: memref<?xi32>,
                  %y: memref<?x32xi8>, %sy: memref<?x2xf32>) {
  moeq.gather input(%x, %sx : memref<?x32xi8>, memref<?x2xf32> as !q) rows(%rows : memref<?xi32>)
      outs(%y, %sy : memref<?x32xi8>, memref<?x2xf32> as !q)
  return
}

// Ascending slots by fma; a dropped one reads nothing.
// CHECK-LABEL: func @combine
// CHECK-SAME:    (%[[X:.*]]: memref<?x64xbf16>, %[[SLOTS:.*]]: memref<?x2xi32>, %[[W:.*]]: memref<?x2xf32>
// CHECK:         linalg.generic
// CHECK:           scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32)
// CHECK:             %[[SLOT:.*]] = memref.load %[[SLOTS]]
// CHECK:             scf.if
// CHECK:               memref.load %[[X]]
// CHECK:               memref.load %[[W]]
// CHECK:               math.fma %{{.*}}, %{{.*}}, %[[ACC]]
// CHECK:             else
// CHECK:               scf.yield %[[ACC]]
// CHECK:           arith.truncf
func.func @combine(%x: memref<?x64xbf16>, %slots: memref<?x2xi32>, %w: memref<?x2xf32>, %y: memref<?x64xbf16>) {
  moeq.combine input(%x : memref<?x64xbf16>) slots(%slots : memref<?x2xi32>)
      weights(%w : memref<?x2xf32>) outs(%y : memref<?x64xbf16>)
  return
}
