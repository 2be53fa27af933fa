"""Building blocks for multi-objective policy optimisation: pure maths under thin ``nn.Module`` objects.

Four families, each usable alone: :mod:`morl_blocks.scalarizers`, :mod:`morl_blocks.schedulers`,
:mod:`morl_blocks.combiners` and :mod:`morl_blocks.critics`; :mod:`morl_blocks.ppo` and
:mod:`morl_blocks.metrics` put them to work. Nothing here loops over training, touches files or knows an environment.
"""
