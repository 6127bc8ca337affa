# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A service over HTTP: a model behind FastAPI, whose event loop stays free during runs.

usage: MODEL=model.so uvicorn service:app       needs ingot-runtime and fastapi
"""
import os

import numpy as np
from fastapi import FastAPI, HTTPException

import ingot

app = FastAPI()
model = ingot.load(os.environ["MODEL"])


@app.post("/predict")
async def predict(inputs: dict[str, list]):
    """Takes {"input": nested lists} and returns {"output": nested lists}."""
    try:
        arrays = {spec.name: np.asarray(inputs[spec.name], spec.numpy_dtype) for spec in model.inputs}
        outputs = await model.run_async(inputs=arrays, timeout=10)
    except KeyError as error:
        raise HTTPException(400, f"expected the input {error}") from error
    except ingot.Timeout as error:
        raise HTTPException(503, str(error)) from error
    except (ArithmeticError, TypeError, ValueError) as error:  # also ingot.InvalidArgument and ingot.RuntimeCheck
        raise HTTPException(400, str(error)) from error
    return {name: array.tolist() for name, array in outputs.items()}
