// RUN: moeq-opt %s -moeq-select-config=variants=3 --remarks-filter=moeq-select-config 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: moeq-opt %s -moeq-select-config | FileCheck %s --check-prefix=ONE
// RUN: moeq-opt %s -moeq-to-kernels=variants=2 | FileCheck %s --check-prefix=KERNELS

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!turned = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Few rows the matmul gathers, many a kernel before it.

// CHECK-LABEL: func @grouped(
// CHECK:       %[[ROWS:.*]]:3 = moeq.group
// CHECK:       scf.if
// CHECK:         moeq.grouped_matmul lhs(%arg0 : {{.*}} rows(%[[ROWS]]#0
// CHECK:       } else {
// CHECK:         %[[INIT:.*]] = tensor.empty(%{{.*}}) : tensor<?x4096x!scaled>
// CHECK:         %[[GATHERED:.*]] = moeq.gather input(%arg0 : {{.*}}) rows(%[[ROWS]]#0 : tensor<?xi32>) outs(%[[INIT]] :
// CHECK-NOT:     rows(
// CHECK:         moeq.grouped_matmul lhs(%[[GATHERED]] :
// CHECK-SAME:    offsets(%[[ROWS]]#2 : tensor<9xi32>) outs(
// REMARK: remark: {{.*}}"8 groups, N 14336, K 4096 on sm_90a: #moeq.config<{{[^>]*}}> up to {{[0-9]+}} rows; {{.*}} after a gather
// ONE-LABEL:   func @grouped(
// ONE:         %[[GATHERED:.*]] = moeq.gather
// ONE:         moeq.grouped_matmul lhs(%[[GATHERED]] :
// KERNELS-LABEL: func @grouped(
// KERNELS:         gpu.launch_func @grouped_kernels::@grouped_group
// KERNELS:         scf.if
// KERNELS-NOT:       gather
// KERNELS:           gpu.launch_func {{.*}}_grouped_matmul
// KERNELS:         else
// KERNELS:           gpu.launch_func {{.*}}_gather
// KERNELS:           gpu.launch_func {{.*}}_grouped_matmul
func.func @grouped(%a: tensor<?x4096x!act>, %w: tensor<8x14336x4096x!weight>, %ids: tensor<?x2xi32>,
                   %r: tensor<?xi32>, %s: tensor<?x2xi32>, %o: tensor<9xi32>,
                   %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %rows, %slots, %offsets = moeq.group ids(%ids : tensor<?x2xi32>)
      outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!act>) rhs(%w : tensor<8x14336x4096x!weight>)
      offsets(%offsets : tensor<9xi32>) rows(%rows : tensor<?xi32>) outs(%out : tensor<?x14336xbf16>)
      -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// Rows of which some may be missing, which are zeros then, stay with the matmul;
// so do those of other groups than the matmul's.

// CHECK-LABEL: func @any_rows(
// CHECK-NOT:   moeq.gather
func.func @any_rows(%a: tensor<?x4096xbf16>, %w: tensor<8x14336x4096xbf16>, %offsets: tensor<9xi32>,
                    %rows: tensor<?xi32>, %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%w : tensor<8x14336x4096xbf16>)
      offsets(%offsets : tensor<9xi32>) rows(%rows : tensor<?xi32>) outs(%out : tensor<?x14336xbf16>)
      -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// CHECK-LABEL: func @other_groups(
// CHECK-NOT:   moeq.gather
func.func @other_groups(%a: tensor<?x4096xbf16>, %w: tensor<8x14336x4096xbf16>, %ids: tensor<?x2xi32>,
                        %r: tensor<?xi32>, %s: tensor<?x2xi32>, %o: tensor<9xi32>, %p: tensor<9xi32>,
                        %out: tensor<?x14336xbf16>) -> tensor<?x14336xbf16> {
  %rows, %slots, %offsets, %padded = moeq.group ids(%ids : tensor<?x2xi32>)
      outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>) padded_offsets(%p : tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>, tensor<9xi32>
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096xbf16>) rhs(%w : tensor<8x14336x4096xbf16>)
      offsets(%padded : tensor<9xi32>) rows(%rows : tensor<?xi32>) outs(%out : tensor<?x14336xbf16>)
      -> tensor<?x14336xbf16>
  return %c : tensor<?x14336xbf16>
}

// A gather takes no scales in this order; and a config that is there wins.

// CHECK-LABEL: func @kept(
// CHECK-NOT:   moeq.gather
func.func @kept(%a: tensor<?x4096x!turned>, %b: tensor<?x4096xbf16>, %w: tensor<8x14336x4096x!weight>,
                %v: tensor<8x14336x4096xbf16>, %ids: tensor<?x2xi32>, %r: tensor<?xi32>,
                %s: tensor<?x2xi32>, %o: tensor<9xi32>, %out: tensor<?x14336xbf16>)
    -> (tensor<?x14336xbf16>, tensor<?x14336xbf16>) {
  %rows, %slots, %offsets = moeq.group ids(%ids : tensor<?x2xi32>)
      outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
  %c = moeq.grouped_matmul lhs(%a : tensor<?x4096x!turned>) rhs(%w : tensor<8x14336x4096x!weight>)
      offsets(%offsets : tensor<9xi32>) rows(%rows : tensor<?xi32>) outs(%out : tensor<?x14336xbf16>)
      -> tensor<?x14336xbf16>
  %d = moeq.grouped_matmul lhs(%b : tensor<?x4096xbf16>) rhs(%v : tensor<8x14336x4096xbf16>)
      offsets(%offsets : tensor<9xi32>) rows(%rows : tensor<?xi32>) outs(%out : tensor<?x14336xbf16>)
      config(<tile = [128, 256], stages = 3, schedule = dynamic>) -> tensor<?x14336xbf16>
  return %c, %d : tensor<?x14336xbf16>, tensor<?x14336xbf16>
}
