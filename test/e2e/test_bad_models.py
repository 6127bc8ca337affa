"""Tests bad models: one clear line, an exit code, no files."""
import os
import random

import families

from support import Case, TensorProto, conv_model, helper, make_model, np, onnx, relu_model, tool


def external(location, offset=None, length=None, shape=(4,)):
    """Makes a model whose weight refers to another file."""
    model = make_model([helper.make_node("Add", ["x", "w"], ["y"], name="sum")], [("x", list(shape))],
                       [("y", list(shape))])
    tensor = model.graph.initializer.add()
    tensor.name, tensor.data_type = "w", TensorProto.FLOAT
    tensor.dims.extend(shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return model


class Files(Case):
    """Tests files that are not models."""
    sanitize = True

    def test_missing(self):
        self.assert_refuses(self.path("nothing.onnx"), "nothing.onnx")

    def test_directory(self):
        os.mkdir(self.path("folder.onnx"))
        self.assert_refuses(self.path("folder.onnx"), "folder.onnx")

    def test_empty(self):
        self.assert_refuses(b"", "empty")

    def test_text(self):
        self.assert_refuses(b"<!DOCTYPE html><html>Not found</html>\n" * 10, "model.onnx")

    def test_git_lfs_pointer(self):
        self.assert_refuses(b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n",
                            "lfs")

    def test_random_bytes(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                self.assert_refuses(random.Random(seed).randbytes(1 + 300 * seed), "model.onnx")

    def test_truncated(self):
        data = families.ALL["repvgg"]()[0].SerializeToString(deterministic=True)
        for share in (0.001, 0.1, 0.5, 0.9, 0.999):
            with self.subTest(share=share):
                self.assert_refuses(data[:int(len(data) * share)], "model.onnx")

    def test_text_model_with_error(self):
        with open(self.path("bad.onnxtxt"), "w") as f:
            f.write('<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x) => (float[2] y) { y = Relu(x }\n')
        self.assert_refuses(self.path("bad.onnxtxt"), "bad.onnxtxt")


class Graphs(Case):
    """Tests models that are not valid graphs."""
    sanitize = True

    def test_no_graph(self):
        self.assert_refuses(onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 17)]), "graph")

    def test_cycle(self):
        nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="first"),
                 helper.make_node("Relu", ["a"], ["b"], name="second")]
        self.assert_refuses(make_model(nodes, [("x", [2])], [("b", [2])]), "first")

    def test_missing_input(self):
        self.assert_refuses(make_model([helper.make_node("Relu", ["nowhere"], ["y"], name="act")], [("x", [2])],
                                       [("y", [2])]), "nowhere")

    def test_missing_output(self):
        self.assert_refuses(make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", [2])], [("z", [2])]), "z")

    def test_duplicate_name(self):
        nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])]
        self.assert_refuses(make_model(nodes, [("x", [2])], [("y", [2])]), "y")

    def test_unknown_operator(self):
        model = make_model([helper.make_node("Frobnicate", ["x"], ["y"], name="odd")], [("x", [2])], [("y", [2])])
        self.assert_refuses(model, "Frobnicate")

    def test_unknown_domain(self):
        node = helper.make_node("Thing", ["x"], ["y"], name="custom0", domain="com.example")
        model = make_model([node], [("x", [2])], [("y", [2])])
        model.opset_import.append(helper.make_opsetid("com.example", 1))
        self.assert_refuses(model, "custom0")

    def test_all_unsupported_nodes_at_once(self):
        nodes = [helper.make_node("Thing", ["x"], ["a"], name="custom0", domain="com.example"),
                 helper.make_node("Other", ["a"], ["y"], name="custom1", domain="com.example")]
        model = make_model(nodes, [("x", [2])], [("y", [2])])
        model.opset_import.append(helper.make_opsetid("com.example", 1))
        done = tool("ingot", "compile", self.save(model), "-o", self.path("model.so"))
        self.assertNotEqual(done.returncode, 0)
        for name in ("custom0", "custom1"):
            self.assertIn(name, done.stderr)

    def test_wrong_attribute_type(self):
        model = conv_model(kernel_shape=[3, 3])
        attribute = model.graph.node[0].attribute[0]
        attribute.CopyFrom(helper.make_attribute("kernel_shape", "three"))
        self.assert_refuses(model, "conv0")

    def test_axis_out_of_range(self):
        """An axis out of range is reported even if the result does not depend on the axis."""
        for op, kind in (("QuantizeLinear", TensorProto.FLOAT), ("DequantizeLinear", TensorProto.UINT8)):
            for shape, axis in (([4], 9), ([4], -2), ([2, 4], 2), ([2, 4], -3)):
                with self.subTest(op=op, shape=shape, axis=axis):
                    model = make_model([helper.make_node(op, ["x", "s", "z"], ["y"], name="quant", axis=axis)],
                                       [("x", shape, kind)], [("y", shape, TensorProto.UINT8)],
                                       {"s": np.ones(4, np.float32), "z": np.zeros(4, np.uint8)}, opset=19)
                    model.graph.output[0].type.tensor_type.elem_type = {
                        TensorProto.FLOAT: TensorProto.UINT8, TensorProto.UINT8: TensorProto.FLOAT}[kind]
                    self.assert_refuses(model, "quant", "axis")

    def test_opset_is_the_one_of_the_file(self):
        """The message names the opset of the file, not the opset that the importer converts the model to."""
        for opset in (13, 18, 22):
            for op, more, shape in (("ReverseSequence", {"time_axis": 0, "batch_axis": 1}, [3, 3]),
                                    ("NegativeLogLikelihoodLoss", {}, [3, 3])):
                with self.subTest(op, opset=opset):
                    model = make_model([helper.make_node(op, ["x", "n"], ["y"], name="odd", **more)], [("x", shape)],
                                       [("y", None)], {"n": np.array([0, 1, 5])}, opset=opset)
                    self.assert_refuses(model, f"node 'odd': {op} (opset {opset}) is invalid")
            with self.subTest("MaxRoiPool", opset=opset):
                pool = helper.make_node("MaxRoiPool", ["x", "r"], ["y"], name="odd", pooled_shape=[2, 2])
                model = make_model([pool], [("x", [1, 1, 5, 5]), ("r", [1, 5])], [("y", None)], opset=opset)
                self.assert_refuses(model, f"node 'odd': MaxRoiPool (opset {opset}) is not supported")

    def test_function_that_calls_itself(self):
        model = make_model([helper.make_node("Loop1", ["x"], ["y"], domain="local")], [("x", [2])], [("y", [2])])
        model.opset_import.append(helper.make_opsetid("local", 1))
        model.functions.append(helper.make_function("local", "Loop1", ["a"], ["b"],
                                                    [helper.make_node("Loop1", ["a"], ["b"], domain="local")],
                                                    [helper.make_opsetid("local", 1), helper.make_opsetid("", 17)]))
        self.assert_refuses(model, "Loop1")

    def test_deep_nesting(self):
        """Nests If in If deeper than a reader should follow. Writes the bytes itself, because protobuf for Python
        refuses to."""
        def field(number, data):
            length, size = len(data), b""
            while length > 127:
                size, length = size + bytes([length & 127 | 128]), length >> 7
            return bytes([number << 3 | 2]) + size + bytes([length]) + data

        graph = field(2, b"leaf")
        for _ in range(5000):
            attribute = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"
            graph = field(1, field(1, b"cond") + field(4, b"If") + field(5, attribute)) + field(2, b"level")
        self.assert_refuses(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"), "model.onnx")

    def test_opset_too_new(self):
        self.assert_refuses(make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", [2])], [("y", [2])],
                                       opset=999), "opset")

    def test_ir_version_too_new(self):
        model = relu_model()
        model.ir_version = 999
        self.assert_refuses(model, "999")


class Types(Case):
    """Tests operands of types that their operator does not accept; ONNX's checker accepts them."""
    sanitize = True

    def refuses(self, node, types, *words):
        inputs = [(name, [2, 2], dtype) for name, dtype in types.items()]
        self.assert_refuses(make_model([node], inputs, [("y", list("mn"))]), *words)

    def test_type_that_the_operator_lacks(self):
        self.refuses(helper.make_node("Erf", ["x"], ["y"], name="erf0"), {"x": TensorProto.INT4}, "erf0", "'x'",
                     "tensor(int4)")

    def test_types_that_differ(self):
        node = helper.make_node("Add", ["a", "b"], ["y"], name="sum0")
        self.refuses(node, {"a": TensorProto.FLOAT, "b": TensorProto.DOUBLE}, "sum0", "'a'", "'b'", "double")

    def test_index_of_the_wrong_type(self):
        node = helper.make_node("Trilu", ["x", "k"], ["y"], name="tri0")
        self.refuses(node, {"x": TensorProto.FLOAT, "k": TensorProto.INT32}, "tri0", "'k'", "tensor(int32)")

    def test_weights_of_another_type(self):
        model = conv_model()
        model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32
        self.assert_refuses(model, "conv0", "tensor(int32)")

    def test_condition_that_is_no_bool(self):
        branch = helper.make_graph([helper.make_node("Relu", ["x"], ["b"])], "branch", [],
                                   [helper.make_tensor_value_info("b", TensorProto.FLOAT, [2, 2])])
        self.refuses(helper.make_node("If", ["c"], ["y"], name="if0", then_branch=branch, else_branch=branch),
                     {"x": TensorProto.FLOAT, "c": TensorProto.FLOAT}, "if0", "'c'")

    def test_type_inside_a_subgraph(self):
        branch = helper.make_graph([helper.make_node("Relu", ["x"], ["b"], name="inner0")], "branch", [],
                                   [helper.make_tensor_value_info("b", TensorProto.BOOL, [2, 2])])
        self.refuses(helper.make_node("If", ["c"], ["y"], name="if0", then_branch=branch, else_branch=branch),
                     {"x": TensorProto.BOOL, "c": TensorProto.BOOL}, "inner0", "tensor(bool)")


class Tensors(Case):
    """Tests shapes, sizes and attributes that do not fit."""
    sanitize = True

    def test_zero_and_negative_strides(self):
        for strides in ([0, 1], [-1, 1]):
            with self.subTest(strides=strides):
                self.assert_refuses(conv_model(strides=strides), "conv0", "strides")

    def test_zero_group(self):
        self.assert_refuses(conv_model(group=0), "conv0", "group")

    def test_group_that_does_not_divide(self):
        self.assert_refuses(conv_model(group=2), "conv0")

    def test_negative_kernel(self):
        self.assert_refuses(conv_model(kernel_shape=[-3, 3]), "conv0", "kernel")

    def test_zero_pool_kernel(self):
        node = helper.make_node("MaxPool", ["x"], ["y"], name="pool0", kernel_shape=[0, 2])
        self.assert_refuses(make_model([node], [("x", [1, 1, 4, 4])], [("y", list("nchw"))]), "pool0", "kernel")

    def test_zero_dilation(self):
        self.assert_refuses(conv_model(dilations=[0, 1]), "conv0", "dilation")

    def test_rank_mismatch(self):
        self.assert_refuses(conv_model(weight=(4, 3, 3)), "conv0")

    def test_channel_mismatch(self):
        self.assert_refuses(conv_model(weight=(4, 5, 3, 3)), "conv0")

    def test_broadcast_mismatch(self):
        model = make_model([helper.make_node("Add", ["a", "b"], ["y"], name="sum0")], [("a", [2, 3]), ("b", [2, 4])],
                           [("y", ["m", "n"])])
        self.assert_refuses(model, "sum0")

    def test_batch_dims_beyond_the_rank(self):
        """ONNX's inference reads as many dimensions as the attribute says."""
        for count in (3, 4, 2**31 - 1, 2**63 - 1, -1, -2**63):
            node = helper.make_node("GatherND", ["x", "i"], ["y"], name="gather0", batch_dims=count)
            self.assert_refuses(make_model([node], [("x", [2, 2]), ("i", [2, 1], TensorProto.INT64)], [("y", ["a"])]),
                                "gather0", str(count))

    def test_equation_of_no_letters(self):
        """ONNX's inference would loop forever."""
        for term in ("b(", "b.j", "b...j.", "b......", "-b", "b\0", "b1", "é", "b\tj"):
            node = helper.make_node("Einsum", ["x", "y"], ["z"], name="einsum0", equation=term + ",bjk->bk")
            self.assert_refuses(make_model([node], [("x", [5, 2]), ("y", [5, 2, 4])], [("z", ["a", "b"])]), "einsum0")

    def test_function_of_an_input_without_a_type(self):
        """ONNX's SequenceMap reads the type of its input."""
        node = helper.make_node("Identity", ["a"], ["b"])
        body = helper.make_graph([node], "body", [helper.make_tensor_value_info("a", TensorProto.FLOAT, None)],
                                 [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)])
        for known in (False, True):
            with self.subTest(known=known):
                node = helper.make_node("SequenceMap", ["x" if known else "nobody"], ["y"], name="map0", body=body)
                model = make_model([node], [("x", [2, 2])], [("y", ["a"])])
                if known:
                    model.graph.input[0].ClearField("type")
                self.assert_refuses(model)

    def test_matmul_mismatch(self):
        model = make_model([helper.make_node("MatMul", ["a", "b"], ["y"], name="dot0")],
                           [("a", [2, 3]), ("b", [4, 2])], [("y", ["m", "n"])])
        self.assert_refuses(model, "dot0")

    def test_reshape_mismatch(self):
        model = make_model([helper.make_node("Reshape", ["x", "s"], ["y"], name="shape0")], [("x", [2, 3])],
                           [("y", ["n"])], {"s": np.array([5], np.int64)})
        self.assert_refuses(model, "shape0")

    def test_raw_data_of_the_wrong_length(self):
        for length in (0, 1, 15, 17, 64):
            with self.subTest(length=length):
                model = make_model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", [4])], [("y", [4])],
                                   {"w": np.zeros(4, np.float32)})
                model.graph.initializer[0].raw_data = b"\0" * length
                self.assert_refuses(model, "w")

    def test_element_count(self):
        model = make_model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", [4])], [("y", [4])])
        tensor = model.graph.initializer.add()
        tensor.name, tensor.data_type = "w", TensorProto.FLOAT
        tensor.dims.append(4)
        tensor.float_data.extend([1.0, 2.0, 3.0])
        self.assert_refuses(model, "w")

    def test_huge_and_negative_dims(self):
        for dims in ([2**40, 2**40], [2**62, 4], [-5]):
            with self.subTest(dims=dims):
                model = make_model([helper.make_node("Relu", ["w"], ["y"])], [],
                                   [("y", ["n"] * len(dims))])
                tensor = model.graph.initializer.add()
                tensor.name, tensor.data_type = "w", TensorProto.FLOAT
                tensor.dims.extend(dims)
                tensor.raw_data = b"\0" * 16
                self.assert_refuses(model, "w")

    def test_huge_activation(self):
        model = make_model([helper.make_node("Relu", ["x"], ["a"], name="act0"),
                            helper.make_node("Exp", ["a"], ["y"])], [("x", [2**32, 2**32])], [("y", ["m", "n"])])
        self.assert_refuses(model, "x")

    def test_result_larger_than_any_memory(self):
        """The message names the node, not only the tensor."""
        nodes = {"Tile": ["x", "repeats"], "Expand": ["x", "sizes"], "MatMul": ["tall", "wide"]}
        constants = {"repeats": np.array([2**30, 2**30]), "sizes": np.array([2**31, 2**31])}
        for op, inputs in nodes.items():
            with self.subTest(op):
                known = {name: constants[name] for name in inputs if name in constants}
                shapes = {"x": [1, 1], "tall": [2**30, 1], "wide": [1, 2**30]}
                model = make_model([helper.make_node(op, inputs, ["big"], name="huge0"),
                                    helper.make_node("ReduceSum", ["big"], ["y"], keepdims=0)],
                                   [(name, shapes[name]) for name in inputs if name in shapes], [("y", [])], known)
                self.assert_refuses(model, "huge0")

    def test_slice_with_an_enormous_step(self):
        """Shape inference is fast for a step of any size and sign."""
        for step in (-2**63, 2**63 - 1, -2**63 + 1):
            with self.subTest(step=step):
                bounds = {"s": np.array([4 if step < 0 else 1]), "e": np.array([-2**63 if step < 0 else 2**63 - 1]),
                          "a": np.array([0]), "t": np.array([step])}
                # Tests slices of sizes, which inference follows through the graph, and of data.
                model = make_model([helper.make_node("Shape", ["x"], ["sizes"]),
                                    helper.make_node("Slice", ["sizes", "s", "e", "a", "t"], ["some"]),
                                    helper.make_node("Slice", ["v", "s", "e", "a", "t"], ["y"]),
                                    helper.make_node("Reshape", ["x", "some"], ["z"])],
                                   [("x", [1, 6, 1, 1, 1] if step > 0 else [1, 1, 1, 1, 6]), ("v", [5])],
                                   [("y", ["k"]), ("z", ["n"])], bounds)
                x = np.arange(6, dtype=np.float32).reshape((1, 6, 1, 1, 1) if step > 0 else (1, 1, 1, 1, 6))
                got = self.run_model(self.compile(model), {"x": x, "v": np.arange(5, dtype=np.float32)})
                np.testing.assert_array_equal(got["y"], [4 if step < 0 else 1])
                np.testing.assert_array_equal(got["z"], np.arange(6))


class ExternalData(Case):
    """Tests weights in other files, which must be in the model's folder and within the file."""
    sanitize = True

    def refuses(self, *words, **where):
        with open(self.path("w.bin"), "wb") as f:
            f.write(b"\0" * 16)
        self.assert_refuses(external(**where), *words)

    def test_absolute_path(self):
        self.refuses("w", location="/etc/passwd")

    def test_parent_folder(self):
        with open(os.path.join(os.path.dirname(self.dir), "outside.bin"), "wb") as f:
            f.write(b"\0" * 16)
        self.addCleanup(os.remove, os.path.join(os.path.dirname(self.dir), "outside.bin"))
        self.refuses("w", location="../outside.bin")
        self.refuses("w", location="sub/../../outside.bin")

    def test_symlink(self):
        os.symlink("/etc/passwd", self.path("link.bin"))
        self.refuses("w", location="link.bin")

    def test_symlinked_folder(self):
        os.symlink("/etc", self.path("etc"))
        self.refuses("w", location="etc/passwd")

    def test_missing_file(self):
        self.refuses("nothing.bin", location="nothing.bin")

    def test_no_location(self):
        self.refuses("w", location=None)

    def test_negative_offset(self):
        self.refuses("offset", location="w.bin", offset=-4)

    def test_offset_past_the_end(self):
        self.refuses("w", location="w.bin", offset=1 << 40)

    def test_length_past_the_end(self):
        self.refuses("w", location="w.bin", offset=8, length=16)

    def test_negative_length(self):
        self.refuses("length", location="w.bin", length=-16)

    def test_wrong_length(self):
        self.refuses("w", location="w.bin", length=8)

    def test_offset_is_no_number(self):
        self.refuses("offset", location="w.bin", offset="here")


class Options(Case):
    """Tests mistakes on the command line."""
    sanitize = True

    def refuses(self, options, *words):
        self.assert_refuses(relu_model(), *words, options=options)

    def test_unknown_option(self):
        done = tool("ingot", "compile", self.save(relu_model()), "--frobnicate")
        self.assertIn(done.returncode, (1, 2))
        self.assertIn("frobnicate", done.stderr)

    def test_unknown_command(self):
        done = tool("ingot", "frobnicate")
        self.assertEqual(done.returncode, 2)
        self.assertIn("frobnicate", done.stderr)

    def test_no_model(self):
        self.assertNotEqual(tool("ingot", "compile").returncode, 0)

    def test_shape_of_unknown_input(self):
        self.refuses(["--shape", "nope=1x4"], "nope")

    def test_shape_that_contradicts(self):
        self.refuses(["--shape", "x=2x4"], "x")

    def test_shape_of_another_rank(self):
        self.refuses(["--shape", "x=1x4x1"], "x")

    def test_shape_that_is_none(self):
        for text in ("x=", "x", "x=1xa", "x=0x4", "x=-1x4", "=1x4", "x=99999999999999999999"):
            with self.subTest(text):
                self.refuses(["--shape", text])

    def test_unknown_dimension(self):
        self.refuses(["--dim", "nope=1"], "nope")

    def test_unknown_target(self):
        self.refuses(["--target", "z80"], "z80")

    def test_unknown_precision(self):
        self.refuses(["--precision=fp8"], "--precision=fp8",
                     "fp32, tf32, bf16, fp16, O0, O1, O2, O3, int8, int8-dynamic, w8, w4 or auto")

    def test_several_models(self):
        done = tool("ingot", "compile", self.save(relu_model()), self.save(relu_model(), "other.onnx"))
        self.assert_one_line(done, "unexpected argument")
        self.assert_one_line(tool("ingot", "compile", ""), "empty")

    def test_unknown_kernels(self):
        self.refuses(["--kernels=fast"], "fast")

    def test_output_folder_that_does_not_exist(self):
        done = tool("ingot", "compile", self.save(relu_model()), "-o", self.path("no/such/model.so"))
        self.assert_one_line(done, "no/such")


class Unnamed(Case):
    """Messages identify nodes without names."""

    def test_output_names_the_node(self):
        model = make_model([helper.make_node("Thing", ["x"], ["strange"], domain="com.example")], [("x", [2])],
                           [("strange", [2])])
        model.opset_import.append(helper.make_opsetid("com.example", 1))
        self.assert_refuses(model, "strange")
