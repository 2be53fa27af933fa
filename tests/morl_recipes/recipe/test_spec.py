import inspect
import pickle
from dataclasses import replace

import pytest
import torch
from torch import nn

from morl_blocks import combiners, ppo, schedulers
from morl_recipes import PASTA
from morl_recipes.recipe import specs
from morl_recipes.recipe.spec import GIVEN, KINDS, SETTLED, SLOT_BASES, Kind, Live, as_spec, spec
from morl_recipes.recipe.specs import Branched, ConflictBraked, Fixed, LinearDecay, Sum, TorchJD
from tests.refusals import refused

OURS = [kind for kind in vars(specs).values() if isinstance(kind, Kind)]


@pytest.mark.parametrize("kind", [kind for kind in OURS if isinstance(kind.block, type)], ids=repr)
def test_every_argument_of_a_block_is_a_field_of_its_spec(kind: Kind) -> None:
    own = list(inspect.signature(kind.block).parameters.values())[GIVEN.get(str(kind.slot), 0) :]
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # of a class without a constructor
    expected = {p.name: p.default for p in own if p.name not in ("scheduler", *SETTLED) and p.kind not in many}
    assert kind.slot in SLOT_BASES
    assert list(kind.defaults) == list(expected)
    for name, default in expected.items():
        if default is not None and name not in ("utopia", "base"):  # settled by the spec
            assert kind.defaults[name] == default, name


def test_no_default_is_left_open_and_names_are_new() -> None:
    gaussian = list(inspect.signature(ppo.UnitBoxGaussianActor).parameters)[GIVEN["actor"] :]
    assert list(specs.Actor.defaults) == gaussian  # one spec makes both actors
    assert not [kind for kind in OURS if None in kind.defaults.values()]
    assert KINDS["ConflictBraked"] is ConflictBraked
    refused("`name` must be new among the specs, got 'Fixed'", spec, schedulers.LinearDecay, name="Fixed")


def test_bad_arguments_are_refused_when_the_spec_is_made() -> None:
    assert isinstance(Fixed(3).mu, float)
    refused("`mu` must be > 0", Fixed, -1.0)
    refused("`threshold` must lie in", ConflictBraked, threshold=1.0)
    refused("`maximum` must be >= the highest value of base", ConflictBraked, base=Fixed(20.0))
    refused("`base` must be a spec or a module of the kind mu, got Sum", ConflictBraked, base=Sum())
    refused(r"unknown argument of Fixed 'nu'\. Nearest: mu", Fixed, nu=1.0)
    refused("`Fixed` must have at most 1 arguments, got 2", Fixed, 1.0, 2.0)
    refused("`mu` must be given once", Fixed, 1.0, mu=2.0)


def test_a_class_is_no_spec_and_a_block_of_no_family_needs_a_slot() -> None:
    class Values(nn.Module):
        def __init__(self, observation_dim: int, num_objectives: int, width: int = 4) -> None:
            super().__init__()

    message = r"`combiner` must .*, such as spec\(PCGrad\)\(\), got the class PCGrad\."
    refused(message, replace, PASTA, combiner=combiners.PCGrad)
    refused(r"`observation_dim` must be given, or its slot named, spec\(Values, slot=", spec(Values))
    assert spec(Values, slot="critic")(width=8).width == 8


def test_a_spec_is_changed_by_name_and_travels() -> None:
    steep = ConflictBraked().but(base=LinearDecay(5.0))
    assert steep.base.start == 5.0
    assert pickle.loads(pickle.dumps(steep)) == steep
    assert hash(steep) == hash(ConflictBraked(LinearDecay(5.0)))


def test_activations_are_names_in_files_and_classes_in_blocks() -> None:
    relu = Branched(activation=nn.ReLU)
    assert relu.activation == "ReLU"
    assert any(isinstance(layer, nn.ReLU) for layer in relu.build(4, 2).modules())
    message = r"`activation` must be the name of a class of torch\.nn, got 'Nothing'"
    refused(message, Branched(activation="Nothing").build, 4, 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Nothing", r"`weighting` must name a class of torchjd\.aggregation, got 'Nothing'"),
        ("CAGradWeighting", r"`weighting` must have the arguments of CAGradWeighting"),
        ("__import__('os').system('true')", "`weighting` must look like Name"),
        ("UPGrad(", "`weighting` must look like Name"),
    ],
)
def test_bad_names_of_torchjd_are_refused(name: str, message: str) -> None:
    refused(message, TorchJD(name).build)
    for good in ("UPGrad", "UPGradWeighting", "CAGradWeighting(c=0.5)", "MGDA"):
        assert TorchJD(good).build().weights(torch.tensor([[1.0, -0.5], [-0.5, 1.0]])).shape == (2,)


def test_live_modules_are_copied_for_every_run() -> None:
    module = schedulers.Fixed(2.0)
    live = as_spec(module)
    assert isinstance(live, Live)
    assert live.build() is not module
    assert live.slot == "mu"
    assert (as_spec(None), as_spec(Sum), repr(Sum)) == (None, Sum(), "spec(Sum)")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = Fixed(1.0).nothing
