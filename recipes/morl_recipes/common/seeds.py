"""Seeds of named random streams, each derived from the seed of its run."""

import hashlib


def derive(seed: int, stream: str, index: int = 0) -> int:
    """Return a 62-bit seed for a named stream of a run."""
    digest = hashlib.blake2b(f"{seed}/{stream}/{index}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 2
