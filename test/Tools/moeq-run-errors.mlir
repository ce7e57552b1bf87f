// RUN: %python %S/Inputs/npy.py %t.x.npy "<f4" 3 1 2 3
// RUN: %python %S/Inputs/npy.py %t.d.npy "<f8" 3 1 2 3
// RUN: %python %S/Inputs/npy.py %t.cut.npy "<f4" 4 1 2 3
// RUN: echo text > %t.text.npy
// RUN: not moeq-run %s --entry=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not moeq-run %s --entry=f 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not moeq-run %s --entry=f --input=%t.d.npy 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not moeq-run %s --entry=f --input=%t.cut.npy 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not moeq-run %s --entry=f --input=%t.text.npy 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not moeq-run %s --entry=f --input=%t.no.npy 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not moeq-run %s --entry=f --input=%t.x.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not moeq-run %s --entry=g 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not moeq-run %s --entry=h 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: not moeq-run %s --entry=f --device=cuda 2>&1 | FileCheck %s --check-prefix=DEVICE

// NONE: error: expects a function 'none' with a body
// NONE: note: there is 'f'
// COUNT: error: expects 1 inputs for 'f', got 0; they are: x
// DTYPE: d.npy: expects elements '<f4' for f32 of 'x', got '<f8'
// CUT: cut.npy: expects 16 bytes of data, got 12
// TEXT: text.npy: expects a .npy file
// NOFILE: no.npy: No such file
// SHAPE: [[#@LINE+1]]:{{.*}} error: expects shape [?, 4] for 'x', got [3]
func.func @f(%x: tensor<?x4xf32> {moeq.name = "x"}) { return }

// TYPE: [[#@LINE+1]]:{{.*}} error: expects scalars, ranked tensors and row-major memrefs of whole bytes, got 'tensor<*xf32>' for 'arg0'
func.func @g(%x: tensor<*xf32>) { return }

// LEFT: [[#@LINE+2]]:{{.*}} error: expects nothing but the LLVM dialect, got 'gpu.thread_id'
func.func @h() -> index {
  %0 = gpu.thread_id x
  return %0 : index
}

// DEVICE: error: expects --device=cpu
