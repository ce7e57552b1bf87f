// The manifest says how to launch each kernel of each public function, with
// every size in terms of the dimensions of the arguments.

// RUN: moeq-compile %s -o %t --emit=manifest > %t.out
// RUN: FileCheck %s < %t/manifest.json
// RUN: FileCheck %s --check-prefix=OUT < %t.out
// RUN: %python -c "import json; json.load(open('%t/manifest.json'))"

// OUT: double_rows: grid [ceildiv((x.0 * 2), 128), 1, 1], block [128, 1, 1], shared memory 0
// OUT: double_rows: grid [1, 1, 1], block [128, 1, 1], shared memory 0
// OUT: multiply: grid [132, 1, 1], block [384, 1, 1], shared memory 65536

// CHECK: "chip": "sm_90a",
// CHECK: "entries": {
// CHECK: "layer": {

// CHECK: "arguments": [
// CHECK: "element": "f8E4M3FN",
// CHECK-NEXT: "kind": "tensor",
// CHECK-NEXT: "name": "x",
// CHECK-NEXT: "role": "input",
// CHECK-NEXT: "shape": [
// CHECK-NEXT: {
// CHECK-NEXT: "symbol": "x.0"
// CHECK-NEXT: },
// CHECK-NEXT: 256
// CHECK-NEXT: ]
// CHECK: "name": "arg1",
// CHECK: "shape": [
// CHECK-NEXT: 8,
// CHECK-NEXT: 512,
// CHECK-NEXT: 256
// CHECK-NEXT: ]
// CHECK: "element": "bf16",
// CHECK-NEXT: "kind": "tensor",
// CHECK-NEXT: "name": "result0",
// CHECK-NEXT: "role": "output",

// CHECK: "kernels": [
// CHECK-NEXT: {
// CHECK-NEXT: "block": [
// CHECK-NEXT: 128,
// CHECK: "cluster": [
// CHECK-NEXT: 1,
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// CHECK: "condition": null,
// CHECK-NEXT: "config": null,
// CHECK-NEXT: "cubin": null,
// CHECK-NEXT: "file": "double_rows.ptx",
// CHECK-NEXT: "grid": [
// CHECK-NEXT: {
// CHECK-NEXT: "args": [
// CHECK-NEXT: {
// CHECK-NEXT: "args": [
// CHECK-NEXT: {
// CHECK-NEXT: "symbol": "x.0"
// CHECK-NEXT: },
// CHECK-NEXT: 2
// CHECK-NEXT: ],
// CHECK-NEXT: "op": "*"
// CHECK-NEXT: },
// CHECK-NEXT: 128
// CHECK-NEXT: ],
// CHECK-NEXT: "op": "ceildiv"
// CHECK-NEXT: },
// CHECK: "name": "double_rows",
// CHECK-NEXT: "parameters": [
// CHECK-NEXT: {
// CHECK-NEXT: "buffer": "x",
// CHECK-NEXT: "byte_offset": 0,
// CHECK-NEXT: "kind": "pointer"
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "buffer": "ws0",
// CHECK-NEXT: "byte_offset": 0,
// CHECK-NEXT: "kind": "pointer"
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "kind": "scalar",
// CHECK-NEXT: "type": "i64",
// CHECK-NEXT: "value": {
// CHECK-NEXT: "symbol": "x.0"
// CHECK: "shared_memory": 0

// A branch: the condition is 1 - (x.0 < 1), and the rows start at byte 256.
// CHECK: "condition": {
// CHECK-NEXT: "args": [
// CHECK-NEXT: 1,
// CHECK-NEXT: {
// CHECK-NEXT: "args": [
// CHECK-NEXT: {
// CHECK-NEXT: "symbol": "x.0"
// CHECK-NEXT: },
// CHECK-NEXT: 1
// CHECK-NEXT: ],
// CHECK-NEXT: "op": "lt"
// CHECK-NEXT: }
// CHECK-NEXT: ],
// CHECK-NEXT: "op": "-"
// CHECK: "name": "double_rows",
// CHECK: "buffer": "ws0",
// CHECK-NEXT: "byte_offset": 256,

// CHECK: "cluster": [
// CHECK-NEXT: 2,
// CHECK: "config": "#moeq.config<tile = [128, 256]
// CHECK: "name": "multiply",
// CHECK-NEXT: "parameters": [
// CHECK-NEXT: {
// CHECK-NEXT: "box": [
// CHECK-NEXT: 128,
// CHECK-NEXT: 256
// CHECK-NEXT: ],
// CHECK-NEXT: "buffer": "arg1",
// CHECK-NEXT: "byte_offset": 0,
// CHECK-NEXT: "dims": [
// CHECK-NEXT: 256,
// CHECK-NEXT: 4096
// CHECK-NEXT: ],
// CHECK-NEXT: "element": "f8E4M3FN",
// CHECK-NEXT: "kind": "tensor_map",
// CHECK-NEXT: "l2_promotion": "256B",
// CHECK-NEXT: "strides": [
// CHECK-NEXT: 256
// CHECK-NEXT: ],
// CHECK-NEXT: "swizzle": "128B"
// CHECK: "buffer": "result0",
// CHECK: "type": "i32",
// CHECK: "shared_memory": 65536

// CHECK: "symbols": [
// CHECK-NEXT: "x.0"
// CHECK-NEXT: ],
// CHECK-NEXT: "workspaces": [
// CHECK-NEXT: {
// CHECK-NEXT: "bytes": {
// CHECK: 256
// CHECK-NEXT: ],
// CHECK-NEXT: "op": "*"
// CHECK-NEXT: },
// CHECK-NEXT: "name": "ws0"
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "bytes": 4,
// CHECK-NEXT: "name": "ws1",
// CHECK-NEXT: "zeroed": true
// CHECK-NEXT: }

// CHECK: "ptx_version": 80,
// CHECK-NEXT: "version": 1

module attributes {gpu.container_module} {
  func.func @layer(%x: memref<?x256xf8E4M3FN> {moeq.name = "x"}, %w: memref<8x512x256xf8E4M3FN>) -> memref<?x512xbf16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %c384 = arith.constant 384 : index
    %sms = arith.constant 132 : index
    %shared = arith.constant 65536 : i32
    %rows = memref.dim %x, %c0 : memref<?x256xf8E4M3FN>
    %doubled = arith.muli %rows, %c2 : index
    %blocks = arith.ceildivui %doubled, %c128 : index
    %workspace = memref.alloc(%doubled) : memref<?x256xf8E4M3FN>
    gpu.launch_func @kernels::@double_rows blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%x : memref<?x256xf8E4M3FN>, %workspace : memref<?x256xf8E4M3FN>, %rows : index)

    %any = arith.cmpi uge, %rows, %c1 : index
    scf.if %any {
      %rest = affine.apply affine_map<()[s0] -> (s0 * 2 - 1)>()[%rows]
      %tail = memref.subview %workspace[1, 0] [%rest, 256] [1, 1]
          : memref<?x256xf8E4M3FN> to memref<?x256xf8E4M3FN, strided<[256, 1], offset: 256>>
      gpu.launch_func @kernels::@double_rows blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
          args(%x : memref<?x256xf8E4M3FN>, %tail : memref<?x256xf8E4M3FN, strided<[256, 1], offset: 256>>, %rest : index)
    }

    %result = memref.alloc(%rows) : memref<?x512xbf16>
    %map = moeq_gpu.encode_tensor_map %w : memref<8x512x256xf8E4M3FN> -> !moeq_gpu.tensor_map<256x128xf8E4M3FN>
    %rows32 = arith.index_cast %rows : index to i32
    gpu.launch_func @kernels::@multiply blocks in (%sms, %c1, %c1) threads in (%c384, %c1, %c1) dynamic_shared_memory_size %shared
        args(%map : !moeq_gpu.tensor_map<256x128xf8E4M3FN>, %result : memref<?x512xbf16>, %rows32 : i32)
    %counter = memref.alloc() {moeq.zeroed} : memref<1xi32>
    gpu.launch_func @kernels::@count blocks in (%sms, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%counter : memref<1xi32>)
    memref.dealloc %workspace : memref<?x256xf8E4M3FN>
    return %result : memref<?x512xbf16>
  }

  gpu.module @kernels {
    llvm.func @double_rows(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>, %rows: i64) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
    llvm.func @count(%counter: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
    llvm.func @multiply(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i32},
                        %result: !llvm.ptr<1>, %rows: i32)
        attributes {nvvm.kernel, gpu.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>,
                    moeq.config = #moeq.config<tile = [128, 256]>} {
      llvm.return
    }
  }
}
