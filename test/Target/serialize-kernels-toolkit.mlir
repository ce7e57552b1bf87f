// The toolkit is looked for in the folder that is named, and what ptxas says is told.
// RUN: rm -rf %t && mkdir -p %t/bin
// RUN: echo '#!/bin/sh' > %t/bin/ptxas
// RUN: echo 'echo "line 1; error: no such thing"; exit 3' >> %t/bin/ptxas
// RUN: chmod +x %t/bin/ptxas
// RUN: not moeq-opt %s --moeq-serialize-kernels="format=bin toolkit=%t" 2>&1 | FileCheck %s

// CHECK: error: ptxas failed with status 3
// CHECK: note: line 1; error: no such thing
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
    llvm.func @kernel() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}
