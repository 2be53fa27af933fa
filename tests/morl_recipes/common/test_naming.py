from morl_recipes.common.naming import unknown


def test_case_does_not_matter_and_distant_names_list_everything() -> None:
    assert "Nearest: No PCGrad" in str(unknown("row", "no pcgard", ["Linear", "No PCGrad"]))
    assert "Known: a, b." in str(unknown("row", "zzz", ["a", "b", "a"]))
    assert str(unknown("argument of Sum", "weight", [])) == "unknown argument of Sum 'weight'. Known: none."


def test_a_long_list_is_cut() -> None:
    assert str(unknown("row", "?", [f"row {i}" for i in range(40)])).endswith("row 8, row 9 and 30 more.")
