"""The page as it is shipped: built, small, and without a word to any other host."""

import gzip
import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "daemon" / "web" / "static"
SOURCE = ROOT / "web"
SOURCES = ("index.html", "package-lock.json", "vite.config.ts", "public/**/*", "src/**/*")
FIRST_LOAD_BYTES = 150_000
# Names that only tell what kind of element is meant; nothing is fetched from them.
NAMESPACES = {
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1998/Math/MathML",
    "http://www.w3.org/1999/xlink",
}


def files() -> list[Path]:
    return [file for file in STATIC.rglob("*") if file.is_file()]


def test_all_that_the_page_refers_to_is_there() -> None:
    page = (STATIC / "index.html").read_text()
    referred = re.findall(r'(?:src|href)="\./([^"]+)"', page)
    assert any(name.endswith(".js") for name in referred)
    assert any(name.endswith(".css") for name in referred)
    assert [name for name in referred if not (STATIC / name).is_file()] == []


def test_the_first_load_is_small() -> None:
    assert sum(len(gzip.compress(file.read_bytes())) for file in files()) < FIRST_LOAD_BYTES


def test_no_other_host_is_referred_to() -> None:
    addresses = {
        address
        for file in files()
        for address in re.findall(r"(?:https?|wss?)://[\w./-]+", file.read_text())
        if address not in NAMESPACES and not address.startswith("https://vuejs.org/")  # in error messages
    }
    assert addresses == set()


def test_the_page_obeys_a_strict_content_security_policy() -> None:
    page = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page) == []
    for file in files():
        assert "data:" not in re.sub(r"metadata:|\bdata:\s*\w", "", file.read_text()), file.name


def test_file_names_change_with_their_content() -> None:
    assert all(re.search(r"-[\w-]{8}\.\w+$", file.name) for file in (STATIC / "assets").iterdir())


def test_it_was_built_from_the_source_that_is_here() -> None:
    files = {file for pattern in SOURCES for file in SOURCE.glob(pattern) if file.is_file()}
    sha256 = hashlib.sha256()
    for name in sorted(file.relative_to(SOURCE).as_posix() for file in files):
        sha256.update(f"{name}\0".encode() + (SOURCE / name).read_bytes())
    built_from = (SOURCE / "built-from.txt").read_text().strip()
    assert sha256.hexdigest() == built_from, "run `npm run build` in web/"
