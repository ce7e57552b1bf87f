// Kernels let the next one start, and wait before they access memory.

// RUN: moeq-opt %s --moeq-overlap-kernels | FileCheck %s
// RUN: moeq-opt %s --moeq-overlap-kernels --moeq-print-manifest | FileCheck %s --check-prefix=MANIFEST
// RUN: sed s/sm_90a/sm_89/ %s | moeq-opt --moeq-overlap-kernels | FileCheck %s --check-prefix=OLD
// RUN: sed s/sm_90a/sm_7/ %s | not moeq-opt --moeq-overlap-kernels 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// OLD-NOT: nvvm.griddepcontrol
// UNKNOWN: expects a chip out of sm_80, {{.*}}, got 'sm_7'
module attributes {gpu.container_module, moeq.target = #moeq.target<chip = "sm_90a">} {
  gpu.module @copy_kernels {
    // Its input is no constant memory: another kernel may be writing it.
    // CHECK-LABEL: llvm.func @copy_row(
    // CHECK-SAME: %{{[^:]*}}: !llvm.ptr<1>, %{{[^:]*}}: !llvm.ptr<1> {llvm.noalias})
    // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
    // CHECK-NEXT: nvvm.read.ptx.sreg.tid.x
    // CHECK-NEXT: llvm.getelementptr
    // CHECK-NEXT: nvvm.griddepcontrol wait
    // CHECK-NEXT: llvm.load
    // MANIFEST: "name": "copy_row"
    // MANIFEST: "programmatic": true,
    llvm.func @copy_row(%from: !llvm.ptr<1> {llvm.noalias, llvm.readonly},
                        %to: !llvm.ptr<1> {llvm.noalias}) attributes {gpu.kernel, nvvm.kernel} {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %source = llvm.getelementptr %from[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %value = llvm.load %source : !llvm.ptr<1> -> f32
      llvm.store %value, %to : f32, !llvm.ptr<1>
      llvm.return
    }

    // Barriers and tensor maps are the kernel's own.
    // CHECK-LABEL: llvm.func @map(
    // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
    // CHECK-NEXT: moeq_gpu.tensor_map
    // CHECK-NEXT: moeq_gpu.ring.create
    // CHECK-NEXT: nvvm.griddepcontrol wait
    // CHECK-NEXT: moeq_gpu.store_wait
    llvm.func @map(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>}) attributes {gpu.kernel, nvvm.kernel} {
      %t = moeq_gpu.tensor_map %map : !moeq_gpu.tensor_map<64x128xf8E4M3FN>
      %ring = moeq_gpu.ring.create consumers 1 : !moeq_gpu.ring<4x[64x128xf8E4M3FN]>
      moeq_gpu.store_wait
      llvm.return
    }

    // Caches hold what was written last, so what is read may come there before.
    // CHECK-LABEL: llvm.func @early(
    // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: nvvm.prefetch
    // CHECK-NEXT: }
    // CHECK-NEXT: nvvm.griddepcontrol wait
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: llvm.store
    llvm.func @early(%to: !llvm.ptr<1> {llvm.noalias}, %has: i1, %value: f32) attributes {gpu.kernel, nvvm.kernel} {
      scf.if %has {
        nvvm.prefetch level = L2, %to : !llvm.ptr<1>
      }
      scf.if %has {
        llvm.store %value, %to : f32, !llvm.ptr<1>
      }
      llvm.return
    }

    // CHECK-LABEL: llvm.func @nothing(
    // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
    // CHECK-NEXT: nvvm.griddepcontrol wait
    // CHECK-NEXT: llvm.return
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }

    // CHECK-LABEL: llvm.func @helper(
    // CHECK-NEXT: llvm.return
    llvm.func @helper() {
      llvm.return
    }
  }

  func.func @copy(%x: memref<8xf32> {moeq.name = "x"}) -> memref<8xf32> {
    %result = memref.alloc() : memref<8xf32>
    %c1 = arith.constant 1 : index
    gpu.launch_func @copy_kernels::@copy_row blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%x : memref<8xf32>, %result : memref<8xf32>)
    return %result : memref<8xf32>
  }
}
