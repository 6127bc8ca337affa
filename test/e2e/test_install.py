"""Tests the files that `cmake --install` installs."""
import glob
import os
import subprocess

import families

from support import BUILD, ROOT, Case, relu_model


class Install(Case):
    """Tests the tools of a fresh prefix; embed.sh tests the libraries."""

    def setUp(self):
        super().setUp()
        self.prefix = self.path("prefix")
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix, "--component", "tools"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def installed(self, name, *args):
        done = subprocess.run([os.path.join(self.prefix, "bin", name), *args], capture_output=True, text=True,
                              cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done

    def test_tools(self):
        model, _ = families.ALL["repvgg"]()
        want = self.compile(model)
        os.makedirs(self.path("out"))
        self.installed("ingot", "compile", "model.onnx", "-o", "out/model.so")
        with open(want, "rb") as built, open(self.path("out/model.so"), "rb") as got:
            self.assertTrue(built.read() == got.read(), "another artifact than the one from the build tree")
        self.installed("ingot", "run", "out/model.so", "--input", "random", "--output-dir", "out")
        self.installed("ingot-opt", "--version")


class Everything(Case):
    """Installs all components in one prefix, and each component in a separate one."""

    def call(self, *command, **options):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.dir, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def install(self, name, *options):
        self.call("cmake", "--install", BUILD, "--prefix", self.path(name), *options)
        return {os.path.relpath(os.path.join(folder, file), self.path(name))
                for folder, _, files in os.walk(self.path(name)) for file in files}

    def test_components(self):
        files = self.install("all")
        parts = {name: self.install(name, "--component", name) for name in ("runtime", "tools", "docs")}
        self.assertEqual(files, set().union(*parts.values()))
        self.assertEqual({file for file in parts["tools"] if file.startswith("bin/")},
                         {"bin/ingot", "bin/ingot-import", "bin/ingot-opt"})
        self.assertLessEqual({"share/bash-completion/completions/ingot.bash", "share/zsh/site-functions/_ingot",
                              "share/man/man1/ingot.1"}, parts["tools"])
        headers = glob.glob(os.path.join(ROOT, "runtime/include/ingot/**/*.*"), recursive=True)
        self.assertEqual({file for file in parts["runtime"] if file.startswith("include/")},
                         {os.path.relpath(header, os.path.join(ROOT, "runtime")) for header in headers})
        self.assertLessEqual({"share/doc/ingot/README.md", "share/doc/ingot/LICENSE", "share/doc/ingot/docs/README.md",
                              "share/doc/ingot/examples/embed_c/app.c"}, parts["docs"])
        self.assertIn("share/doc/ingot/LICENSE", parts["runtime"])

    def test_an_application_against_the_installed_tree(self):
        """The tree is moved after installation: no file in it contains its path."""
        self.save(relu_model((4,)))
        self.install("installed")
        os.rename(self.path("installed"), self.path("moved here"))
        prefix = self.path("moved here")
        self.call(f"{prefix}/bin/ingot", "compile", "model.onnx", "-q", "-o", "model.so")
        self.assertIn("y", self.call(f"{prefix}/bin/ingot", "run", "model.so", "--input", "random"))
        text = self.call(f"{prefix}/bin/ingot-import", "model.onnx")
        self.assertIn("onnx.node", text)
        library, = glob.glob(f"{prefix}/**/libingot.so", recursive=True)
        folder = os.path.dirname(library)
        with open(self.path("use.cpp"), "w") as f:
            f.write("""#include <ingot/ingot.hpp>
int main() {
  ingot::Model model = ingot::Model::load("model.so");
  ingot::Context context(model);
  ingot::Tensor<float> x({4}), y({4});
  x.data = {-1, 2, -3, 4};
  context.run({ingot::input(x)}, {ingot::output(y)});
  return y.data[0] != 0 || y.data[1] != 2;
}
""")
        os.mkdir(self.path("project"))
        with open(self.path("project/CMakeLists.txt"), "w") as f:
            f.write("""cmake_minimum_required(VERSION 3.16)
project(Use LANGUAGES CXX)
find_package(Ingot 0.1 REQUIRED)
foreach(kind ingot ingot_static)
  add_executable(use_${kind} ../use.cpp)
  target_compile_features(use_${kind} PRIVATE cxx_std_17)
  target_link_libraries(use_${kind} Ingot::${kind})
endforeach()
""")
        self.call("cmake", "-S", "project", "-B", "built", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.call("cmake", "--build", "built")
        for kind in ("ingot", "ingot_static"):
            self.call(self.path(f"built/use_{kind}"))
        # A shell splits the output of pkg-config at spaces.
        os.symlink("moved here", self.path("linked"))
        folder = folder.replace("moved here", "linked")
        self.call("sh", "-c", "c++ -std=c++17 use.cpp $(pkg-config --cflags --libs ingot) -o use && ./use",
                  env={**os.environ, "PKG_CONFIG_PATH": f"{folder}/pkgconfig", "LD_LIBRARY_PATH": folder})
