"""Builds the Python package ingot-runtime with AddressSanitizer and UndefinedBehaviorSanitizer."""
import glob
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TREE = os.path.join(ROOT, "build-asan-runtime")
FLAGS = "-fsanitize=address,undefined -shared-libasan -fno-omit-frame-pointer -fno-sanitize-recover=undefined -g"


def run(*command):
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def build(python, jobs):
    """Builds the runtime and the extension module. Returns the variables of a process that imports it.

    python: an interpreter with the packages that the module is built with.
    """
    if not os.path.exists(os.path.join(TREE, "build.ninja")):
        run("cmake", "--preset", "asan-runtime")
    run("ninja", "-C", TREE, "-j", jobs, "lib/libingot.a")
    work = os.path.join(TREE, "python")
    run("cmake", "-S", os.path.join(ROOT, "python", "runtime"), "-B", work, "-G", "Ninja", f"-DINGOT_BUILD={TREE}",
        f"-DPython_EXECUTABLE={python}", "-DSKBUILD_SABI_COMPONENT=Development.SABIModule", "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_COMPILER=/usr/bin/clang++-22", f"-DCMAKE_CXX_FLAGS=-O1 {FLAGS}",
        f"-DCMAKE_MODULE_LINKER_FLAGS={FLAGS} -fuse-ld=lld")
    run("ninja", "-C", work, "-j", jobs)
    package = os.path.join(work, "package", "ingot")
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "python", "runtime", "ingot"), package)
    module, = glob.glob(os.path.join(work, "_core*.so"))
    shutil.copy(module, package)
    library = subprocess.run(["/usr/bin/clang++-22", "-print-file-name=libclang_rt.asan-x86_64.so"], check=True,
                             capture_output=True, text=True).stdout.strip()
    # Python's own leaks at its end are no findings; sequences.py watches memory instead.
    # The sanitizer keeps freed memory for a while, and each stack of an allocation for ever. Both are bounded here, so
    # that what grows is the program's own.
    options = ("detect_leaks=0:quarantine_size_mb=16:thread_local_quarantine_size_kb=64:malloc_context_size=8:"
               "allocator_may_return_null=1")
    return {"LD_PRELOAD": library, "PYTHONPATH": os.path.dirname(package), "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": options, "UBSAN_OPTIONS": "print_stacktrace=1"}
