"""Arrays in memory of the emulated GPU, as another library would own them: they have only DLPack."""
import ctypes
import os

import numpy as np

CPU, CUDA = 1, 2  # of DLDeviceType
FLOAT, BFLOAT = 2, 4  # of DLDataTypeCode


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def driver_path():
    """Returns the path of the emulated driver in the build tree, or "" if there is none."""
    built = os.environ.get("INGOT_BUILT", "")
    path = os.path.join(os.path.dirname(built), "..", "lib", "emugpu", "libcuda.so.1")
    return path if os.path.exists(path) else ""


class Driver:
    """The emulated driver, with the primary context of its GPU."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxPushCurrent_v2", context)

    def call(self, name, *arguments):
        result = getattr(self._library, name)(*arguments)
        assert result == 0, f"{name}: {result}"

    def used(self):
        """Returns the bytes of device memory that are in use."""
        left, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(left), ctypes.byref(total))
        return total.value - left.value

    def read(self, exported, dtype=np.float32):
        """Returns the elements of an array of the GPU, through its DLPack."""
        tensor = describe(exported)
        array = np.zeros(tuple(tensor.shape[i] for i in range(tensor.ndim)), dtype)
        if array.size:
            self.call("cuMemcpyDtoHAsync_v2", array.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(tensor.data),
                      ctypes.c_size_t(array.nbytes), None)
            self.call("cuStreamSynchronize", None)
        return array


def describe(exported):
    """Returns the DLTensor of an object with __dlpack__, which stays the owner."""
    capsule = exported.__dlpack__()
    # The capsule releases the tensor, but its memory lives as long as the object.
    return Tensor.from_buffer_copy(Managed.from_address(_pointer_of(capsule, b"dltensor")).tensor)


class GpuArray:
    """An array in memory of the GPU. Its elements are copied there by work in the default stream, which may be pending."""

    def __init__(self, driver, values, code=FLOAT, device=(CUDA, 0), offset=0):
        self.driver, self.device = driver, device
        self.address = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(values.nbytes + offset + 1))
        self.data = self.address.value + offset
        driver.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(self.data), values.ctypes.data_as(ctypes.c_void_p),
                    ctypes.c_size_t(values.nbytes), None)
        self.sizes = (ctypes.c_int64 * values.ndim)(*values.shape)
        self.managed = Managed(Tensor(self.data, *device, values.ndim, code, values.itemsize * 8, 1,
                                      ctypes.cast(self.sizes, ctypes.POINTER(ctypes.c_int64)), None, 0), None, None)

    def __dlpack__(self, **_):
        return _new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return self.device

    def __del__(self):
        self.driver.call("cuMemFree_v2", self.address)
