# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend "ingot" of torch.compile, for inference.

    fast = torch.compile(module, backend="ingot", dynamic=False)
    with torch.no_grad():
        y = fast(x)

A graph goes through torch.onnx.export into the cache of `ingot.compile`; tensors are shared by DLPack. Options are those of
`ingot.compile`, and `fallback`: "error" (the default), or "warn" to run a graph that cannot be compiled by PyTorch, with a
warning.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import ingot

from ._commands import compile as compile_model
from ._errors import CompilerWarning


def backend(graph: Any, examples: Sequence[Any], *, options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """Compiles a graph of torch.compile and returns a function of its inputs."""
    if options is not None and not isinstance(options, dict):
        raise ingot.InvalidType(f"options: expected a dict, but got {type(options).__qualname__}")
    chosen = dict(options or {})
    fallback = chosen.pop("fallback", "error")
    if fallback not in ("error", "warn"):
        raise ingot.InvalidArgument(f"fallback: expected 'error' or 'warn', but got {fallback!r}")
    try:
        return _compile(graph, examples, chosen)
    except Exception as error:
        if fallback == "error":
            raise
        warnings.warn(f"PyTorch runs a graph that Ingot cannot compile: {error}", CompilerWarning, stacklevel=2)
        return graph.forward  # type: ignore[no-any-return]


def _compile(graph: Any, examples: Sequence[Any], options: dict[str, Any]) -> Callable[..., Any]:
    import torch  # type: ignore[import-not-found,unused-ignore]

    if torch.is_grad_enabled() and any(isinstance(e, torch.Tensor) and e.requires_grad for e in examples):
        raise ingot.Unsupported("a graph for training; call the model in torch.no_grad() or torch.inference_mode()")
    for example in examples:
        if not isinstance(example, torch.Tensor):
            raise ingot.Unsupported(f"an input of type {type(example).__qualname__}; pass dynamic=False to torch.compile")
        if example.device.type != "cpu":
            raise ingot.Unsupported(f"the backend takes tensors on the CPU, but got one on {example.device}; move the "
                                    "module and its inputs with .cpu(), or export the module with ingot.compile("
                                    "module.cpu(), args=..., target='cuda,x86-64-v3') and call the result")
    fixed, given = _bind_parameters(torch, graph, examples)
    model = compile_model(fixed, args=tuple(examples[i].detach() for i in given), **options)
    form = _output_form(graph)

    def run(*arguments: Any) -> Any:
        arrays = tuple([arguments[i].detach().contiguous() for i in given])
        values = model._run_ordered(arrays, None, None, 0, None, None, None)
        return form([torch.from_dlpack(value) for value in values])

    return run


def _bind_parameters(torch: Any, graph: Any, examples: Sequence[Any]) -> tuple[Any, list[int]]:
    """Makes parameters constants of the graph, since torch.compile passes them as inputs.

    Returns the new module, and the indices of the inputs that are left.
    """
    module = torch.fx.GraphModule(graph, torch.fx.Graph())
    module.graph.output(module.graph.graph_copy(graph.graph, {}))
    given = []
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for i, (node, example) in enumerate(zip(placeholders, examples)):
        if not isinstance(example, torch.nn.Parameter) and not hasattr(example, "_dynamo_static_input_type"):
            given.append(i)
            continue
        name = f"ingot_constant_{i}"
        module.register_buffer(name, example.detach())
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.get_attr(name))
        module.graph.erase_node(node)
    module.recompile()
    return module.eval(), given


def _output_form(graph: Any) -> Callable[[list[Any]], Any]:
    """Returns a function that arranges outputs as the graph does. Refuses other than a flat tuple of tensors."""
    result = next(node for node in graph.graph.nodes if node.op == "output").args[0]
    if not isinstance(result, (tuple, list)):
        return lambda values: values[0]
    if any(not hasattr(one, "op") for one in result):
        raise ingot.Unsupported("a graph whose results are not all tensors")
    return tuple
