"""Write the page "Does it hold?", its pictures and the README's lines: ``python docs/make_does_it_hold.py``.

Everything comes from the datasets of the package; the same datasets make the same files.
"""

from pathlib import Path

from benchmarks.claims.write import write_all

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    for path in write_all(root):
        print(path.relative_to(root))
