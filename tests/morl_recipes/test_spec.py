from dataclasses import dataclass

import pytest
import torch

from morl_blocks import schedulers
from morl_recipes.spec import SPECS, Live, Spec, as_spec, is_stackable, stack, stacked_fields, structure
from morl_recipes.specs import ConflictBraked, Fixed, LinearDecay, Sum, TorchJD


def test_every_spec_registers_under_its_name() -> None:
    assert SPECS["ConflictBraked"] is ConflictBraked
    with pytest.raises(ValueError, match="`Fixed` must be a new name for a spec"):
        type("Fixed", (Spec,), {"__module__": "elsewhere"})


def test_whole_numbers_become_floats() -> None:
    assert Fixed(3) == Fixed(3.0)
    assert isinstance(Fixed(3).mu, float)


def test_bad_numbers_are_refused_when_the_spec_is_made() -> None:
    with pytest.raises(ValueError, match="`mu` must be > 0"):
        Fixed(-1.0)
    with pytest.raises(ValueError, match="`threshold` must lie in"):
        ConflictBraked(threshold=1.0)
    with pytest.raises(ValueError, match="`maximum` must be >= the highest value of base"):
        ConflictBraked(base=Fixed(20.0))


def test_stacked_specs_build_one_block_with_a_number_per_run() -> None:
    specs = [ConflictBraked(base=LinearDecay(start, 0.5), threshold=tau) for start, tau in ((4.0, 0.2), (8.0, 0.6))]
    block = stack(specs)
    assert isinstance(block, schedulers.ConflictBraked)
    singles = [spec.build() for spec in specs]
    for progress in (0.0, 0.5, 1.0):
        conflict = torch.tensor([0.9, 0.7])
        expected = [one.step(progress, own) for one, own in zip(singles, conflict, strict=True)]
        torch.testing.assert_close(block.step(progress, conflict), torch.stack(expected))


def test_structure_forgets_numbers_and_nothing_else() -> None:
    assert structure(ConflictBraked()) == structure(ConflictBraked(threshold=0.7, base=LinearDecay(5.0, 1.0)))
    assert structure(ConflictBraked()) != structure(ConflictBraked(base=Fixed(10.0)))
    assert structure(TorchJD("A")) != structure(TorchJD("B"))
    assert stacked_fields([TorchJD("A"), TorchJD("A")]) == {"weighting": "A"}


def test_live_modules_are_copied_for_every_run() -> None:
    module = schedulers.Fixed(2.0)
    spec = as_spec(module)
    assert isinstance(spec, Live)
    assert spec.build() is not module
    assert as_spec(None) is None
    assert not is_stackable(spec)
    assert is_stackable(Sum())


def test_a_spec_without_a_block_says_so() -> None:
    @dataclass(frozen=True)
    class Unfinished(Spec):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished must set `block` or override `build`"):
        Unfinished().build()
    del SPECS["Unfinished"]
