"""Builds the documentation as a static site with search that needs no network, and checks it.

usage: python scripts/site build FOLDER     FOLDER gets the site; FOLDER.source what it is made of
       python scripts/site check FOLDER     links, requests to other hosts, and widths in headless Chromium
"""
import argparse
import os
import shutil
import subprocess
import sys

import check
import stage

HERE = os.path.dirname(os.path.abspath(__file__))


def build(folder):
    source = folder + ".source"
    for path in (folder, source):
        shutil.rmtree(path, ignore_errors=True)
    config = stage.write(source, folder, os.path.join(HERE, "mkdocs.yml"))
    for name in ("site.css", "iframe-worker.js"):
        shutil.copyfile(os.path.join(HERE, name), os.path.join(source, "docs", name))
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", config], env=environment)
    if done.returncode:
        return done.returncode
    print(f"site: {os.path.join(folder, 'index.html')}")
    return 0


def main():
    parser = argparse.ArgumentParser(prog="site", description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=("build", "check"))
    parser.add_argument("folder")
    parser.add_argument("--chromium", default="chromium", help="the browser (default: chromium)")
    parser.add_argument("--screenshots", metavar="FOLDER", help="also write a picture of some pages there, in each width and scheme")
    args = parser.parse_args()
    folder = os.path.abspath(args.folder)
    return build(folder) if args.action == "build" else check.run(folder, args.chromium, args.screenshots)


if __name__ == "__main__":
    sys.exit(main())
