"""Notes on the score that a table shows, and on the selection bias of the best validation."""

from morl_recipes.analysis.results.study import Study

WORDS = {
    "peak": "Scores are best validations, as the paper reports them.",
    "test": "Scores are test scores: the policy of each run's best validation, played on fresh episodes.",
    "final": "Scores are last validations.",
    "test_final": "Scores are test scores of the last policy of each run, played on fresh episodes.",
}


def reading_notes(study: Study) -> list[str]:
    """Return notes on the score that is shown and on its selection bias, with the measured size of the bias."""
    bias, level, runs = study.bias
    if not runs:
        return [study.why] * bool(study.why) if study.reading == "peak" else [WORDS[study.reading]]
    share = f", {100 * bias / level:.0f} % of the test score" if level > 0 else ""
    return [
        study.why or WORDS[study.reading],
        "Selection bias: the best of several noisy validations is chosen for its luck too, and tends to overstate its "
        f"policy; here peak minus test is {bias:+.3f} HV (mean over {runs} runs{share}).",
    ]
