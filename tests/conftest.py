"""Settings shared by every test: one thread, and the same hypothesis examples on every machine."""

import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("house", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("house")
