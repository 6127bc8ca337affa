"""Checks a built site: links lead to files and headings, nothing comes from another host, no page is wider than its window."""
import functools
import http.server
import json
import os
import posixpath
import shutil
import subprocess
import tempfile
import threading
import urllib.parse
from html.parser import HTMLParser

HERE = os.path.dirname(os.path.abspath(__file__))
# Widths of a phone and of a desktop, in CSS pixels.
WIDTHS = (390, 1280)
# Pages to take pictures of, one of each kind.
PICTURES = ("index.html", "contents.html", "reference/embedding.html", "design/open-sizes.html", "measured/zoo.html")
SECONDS = 600


class Page(HTMLParser):
    """Collects identifiers, links and requests of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.requests = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        elif tag == "link" and attrs.get("href") and attrs.get("rel") not in ("canonical", "prev", "next"):
            self.requests.append(attrs["href"])
        elif tag in ("script", "img", "iframe", "source") and attrs.get("src"):
            self.requests.append(attrs["src"])


def read_pages(folder):
    pages = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if name.endswith(".html") and name != "404.html":
                with open(path, encoding="utf-8") as file:
                    pages[os.path.relpath(path, folder)] = Page(file.read())
    return pages


def broken_links(folder, pages):
    wrong = []
    for name, page in pages.items():
        for link in page.links + page.requests:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.requests:
                    wrong.append(f"{name}: asks another host for {link}")
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(url.path))) if url.path else name
            target = posixpath.join(target, "index.html") if os.path.isdir(os.path.join(folder, target)) else target
            anchor = urllib.parse.unquote(url.fragment)
            if not os.path.isfile(os.path.join(folder, target)):
                wrong.append(f"{name}: no file for the link {link}")
            elif anchor and target in pages and anchor not in pages[target].ids and not anchor.startswith("__"):
                wrong.append(f"{name}: no heading for the link {link}")
    for at, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".css"):
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    text = file.read()
                if "url(http" in text or "@import" in text:
                    wrong.append(f"{os.path.relpath(os.path.join(at, name), folder)}: asks another host")
    return wrong


class Server(http.server.ThreadingHTTPServer):
    """Serves the site and the page that measures it; keeps what that page sends."""

    def __init__(self, folder, pages):
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        self.job = json.dumps({"pages": sorted(pages), "widths": WIDTHS})
        self.found, self.done = [], threading.Event()


class Handler(http.server.SimpleHTTPRequestHandler):

    def do_GET(self):
        if self.path == "/__measure":
            with open(os.path.join(HERE, "measure.html"), encoding="utf-8") as file:
                body = file.read().replace("JOB", self.server.job).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def do_POST(self):
        self.server.found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.done.set()

    def log_message(self, *args):
        pass


def browser(chromium, profile, *options):
    return [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}", *options]


def too_wide(folder, pages, chromium):
    server = Server(folder, pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/__measure"
    with tempfile.TemporaryDirectory() as profile:
        process = subprocess.Popen(browser(chromium, profile, "--remote-debugging-port=0", url), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        finished = server.done.wait(SECONDS)
        process.terminate()
        process.wait()
    server.shutdown()
    return server.found if finished else [f"{chromium} did not measure the pages within {SECONDS} s"]


def take_pictures(folder, chromium, output):
    """Frames have any width; windows of headless Chromium do not."""
    os.makedirs(output, exist_ok=True)
    for page in PICTURES:
        for width in WIDTHS:
            for scheme, number in (("dark", 0), ("light", 1)):
                stem = f"{page.replace('/', '-')[:-5]}-{width}-{scheme}"
                frame = os.path.join(output, stem + ".html")
                with open(frame, "w", encoding="utf-8") as file:
                    file.write(f'<body style="margin:0"><iframe src="file://{os.path.join(folder, page)}" '
                               f'style="border:0;width:{width}px;height:1400px"></iframe>')
                with tempfile.TemporaryDirectory() as profile:
                    subprocess.run(browser(chromium, profile, f"--blink-settings=preferredColorScheme={number}", "--virtual-time-budget=4000",
                                           f"--window-size={max(width, 500)},1400", f"--screenshot={os.path.join(output, stem)}.png",
                                           "file://" + frame),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=True)
                os.unlink(frame)


def run(folder, chromium, pictures):
    pages = read_pages(folder)
    wrong = broken_links(folder, pages)
    if not shutil.which(chromium):
        wrong.append(f"{chromium} is missing: widths are not measured")
    else:
        wrong += too_wide(folder, pages, chromium)
        if pictures:
            take_pictures(folder, chromium, pictures)
    print("\n".join(wrong) or f"site: {len(pages)} pages, links and widths are right")
    return 1 if wrong or not pages else 0
