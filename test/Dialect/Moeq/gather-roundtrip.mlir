// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: @plain
// CHECK: moeq.gather input(%{{.*}} : tensor<?x64xbf16>) rows(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<?x64xbf16>) -> tensor<?x64xbf16>
func.func @plain(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %init: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>) outs(%init : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// CHECK-LABEL: @scaled
// CHECK: moeq.gather input(%{{.*}} : tensor<?x200x!{{.*}}>) rows(%{{.*}} : tensor<6xi32>) outs(%{{.*}} : tensor<6x200x!{{.*}}>)
func.func @scaled(%x: tensor<?x200x!a>, %rows: tensor<6xi32>, %init: tensor<6x200x!a>) -> tensor<6x200x!a> {
  %0 = moeq.gather input(%x : tensor<?x200x!a>) rows(%rows : tensor<6xi32>) outs(%init : tensor<6x200x!a>)
      -> tensor<6x200x!a>
  return %0 : tensor<6x200x!a>
}

// CHECK-LABEL: @components
// CHECK: moeq.gather input(%{{.*}}, %{{.*}} : memref<?x200xf8E4M3FN>, memref<?x2xf32> as !{{.*}}) rows(%{{.*}} : memref<6xi32>) outs(%{{.*}}, %{{.*}} : memref<6x200xf8E4M3FN>, memref<6x2xf32> as !{{.*}})
func.func @components(%v: memref<?x200xf8E4M3FN>, %s: memref<?x2xf32>, %rows: memref<6xi32>,
                      %ov: memref<6x200xf8E4M3FN>, %os: memref<6x2xf32>) {
  moeq.gather input(%v, %s : memref<?x200xf8E4M3FN>, memref<?x2xf32> as !a) rows(%rows : memref<6xi32>)
      outs(%ov, %os : memref<6x200xf8E4M3FN>, memref<6x2xf32> as !a)
  return
}
