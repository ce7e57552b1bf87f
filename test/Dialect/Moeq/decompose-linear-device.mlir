// RUN: moeq-opt %s -split-input-file -moeq-decompose="form=linear device-offsets=true" -canonicalize -cse | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-decompose="form=linear device-offsets=true" --remarks-filter=moeq-decompose -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!act = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!weight = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Each expert takes all rows, and its own of the weight, the offsets and the bias. No
// offset is read on the host, and rows need not be sliced.

// CHECK-LABEL: func @device(
// CHECK-SAME:      %[[A:[^:]*]]: tensor<?x256x!scaled>, %[[W:[^:]*]]: tensor<2x384x256x!scaled1>, %[[OFFSETS:[^:]*]]: tensor<3xi32>, %[[RW:[^:]*]]: tensor<?xf32>, %[[BIAS:[^:]*]]: tensor<2x384xf32>, %[[OUT:[^:]*]]: tensor<?x384xf32>
// CHECK-NOT:   tensor.extract %
// CHECK-DAG:   %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0, 0] [1, 384, 256] [1, 1, 1] : {{.*}} to tensor<1x384x256x!scaled1>
// CHECK-DAG:   %[[O0:.*]] = tensor.extract_slice %[[OFFSETS]][0] [2] [1] : tensor<3xi32> to tensor<2xi32>
// CHECK-DAG:   %[[B0:.*]] = tensor.extract_slice %[[BIAS]][0, 0] [1, 384] [1, 1]
// CHECK:       %[[R0:.*]] = moeq.grouped_matmul lhs(%[[A]] : {{.*}}) rhs(%[[W0]] : {{.*}}) offsets(%[[O0]] : {{.*}}) outs(%[[OUT]] : {{.*}}) accumulate(<promote<128>>) config(<tile = [128, 256]{{.*}} epilogue(%[[RW]], %[[B0]] :
// CHECK-DAG:   %[[W1:.*]] = tensor.extract_slice %[[W]][1, 0, 0]
// CHECK-DAG:   %[[O1:.*]] = tensor.extract_slice %[[OFFSETS]][1] [2] [1]
// CHECK-DAG:   %[[B1:.*]] = tensor.extract_slice %[[BIAS]][1, 0]
// CHECK:       %[[R1:.*]] = moeq.grouped_matmul lhs(%[[A]] : {{.*}}) rhs(%[[W1]] : {{.*}}) offsets(%[[O1]] : {{.*}}) outs(%[[R0]] :
// CHECK:       return %[[R1]]
func.func @device(%a: tensor<?x256x!act>, %w: tensor<2x384x256x!weight>, %offsets: tensor<3xi32>, %rw: tensor<?xf32>,
                  %bias: tensor<2x384xf32>, %out: tensor<?x384xf32>) -> tensor<?x384xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x256x!act>) rhs(%w : tensor<2x384x256x!weight>)
      offsets(%offsets : tensor<3xi32>) outs(%out : tensor<?x384xf32>)
      accumulate(<promote<128>>) config(<tile = [128, 256]>)
      epilogue(%rw, %bias : tensor<?xf32>, tensor<2x384xf32>) maps [row, column] {
    ^bb0(%acc: f32, %row: index, %col: index, %r: f32, %b: f32):
      %s = arith.addf %acc, %b : f32
      %t = arith.mulf %s, %r : f32
      moeq.yield %t : f32
  } -> tensor<?x384xf32>
  return %c : tensor<?x384xf32>
}

// -----

// Gathered rows and a plan of all experts: the rows are still theirs, the plan is not.

// CHECK-LABEL: func @gathered(
// CHECK:       moeq.grouped_matmul {{.*}} offsets(%{{.*}} : tensor<2xi32>) rows(%{{.*}} : tensor<?xi32>) outs(
// CHECK-NOT:   plan(
func.func @gathered(%a: tensor<?x64xbf16>, %w: tensor<1x128x64xbf16>, %offsets: tensor<2xi32>, %rows: tensor<?xi32>,
                    %plan: tensor<2x4xi32>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<1x128x64xbf16>)
      offsets(%offsets : tensor<2xi32>) rows(%rows : tensor<?xi32>) plan(%plan : tensor<2x4xi32>)
      outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}

// -----

// CHECK-LABEL: func @dynamic_experts(
// CHECK:       rhs(%{{.*}} : tensor<?x128x64xbf16>)
// REMARK: keeps moeq.grouped_matmul: the number of its experts is not known
func.func @dynamic_experts(%a: tensor<?x64xbf16>, %w: tensor<?x128x64xbf16>, %offsets: tensor<?xi32>,
                           %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<?x128x64xbf16>)
      offsets(%offsets : tensor<?xi32>) outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}

// -----

// CHECK-LABEL: func @masked(
// CHECK:       rhs(%{{.*}} : tensor<2x128x64xbf16>)
// REMARK: keeps moeq.grouped_matmul: its rows are masked
func.func @masked(%a: tensor<2x4x64xbf16>, %w: tensor<2x128x64xbf16>, %counts: tensor<2xi32>,
                  %out: tensor<2x4x128xf32>) -> tensor<2x4x128xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<2x4x64xbf16>) rhs(%w : tensor<2x128x64xbf16>)
      counts(%counts : tensor<2xi32>) outs(%out : tensor<2x4x128xf32>) -> tensor<2x4x128xf32>
  return %c : tensor<2x4x128xf32>
}
