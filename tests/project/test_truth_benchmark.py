"""The benchmark of known truth: its cases, its measures, and what it keeps and says."""

import os
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from sklearn.metrics import average_precision_score
from statsmodels.stats.anova import anova_lm

BENCHMARK = "truth"


@pytest.fixture
def cases(benchmark):
    return sys.modules["cases"]


@pytest.fixture
def real(cases):
    if not os.environ.get("ANALOGICAL_DATA") or not cases.data_folder().joinpath("vote.csv").exists():
        pytest.skip("set ANALOGICAL_DATA to a folder that holds real/ to run this test")
    return cases


def made(cases, setting, seed=0):
    return next(cases.synthetic_cases([seed], settings=[setting]))


def codes(case, name):
    return case.X[name].str[1:].astype(int).to_numpy()


# ---------------------------------------------------------------- cases


def test_every_setting_gives_a_table_with_known_shares(cases):
    found = list(cases.synthetic_cases([0, 1]))
    assert len({case.name for case in found}) == len(found) == 2 * len(cases.SETTINGS)
    for case in found:
        assert set(case.true) < set(case.X), case.name
        assert len(case.true) in (2, 3), case.name
        assert case.shares.shape == (len(case.X), case.y.max() + 1), case.name
        np.testing.assert_allclose(case.shares.sum(axis=1), 1)
        drawn = np.eye(case.shares.shape[1])[case.y]
        assert np.abs((drawn - case.shares).mean(axis=0)).max() < 2 / np.sqrt(len(case.y)), case.name
    rows = {len(case.X) for case in found}
    assert rows == {100, 200, 2000, 20_000}
    assert {case.shares.shape[1] for case in found} == {2, 4}


def test_same_seed_gives_the_same_case_and_another_seed_another(cases):
    for setting in ("copies, 10% flips", "numbers correlated 0.95"):
        first, again, other = made(cases, setting), made(cases, setting), made(cases, setting, 1)
        assert first.X.equals(again.X)
        assert (first.y == again.y).all()
        assert first.true == again.true
        assert not (first.y == other.y).all()


def test_shares_are_a_function_of_the_true_features(cases):
    for setting in ("copies, 30% flips", "Markov chain, 10% flips", "exclusive or of three", "four classes"):
        case = made(cases, setting)
        for rows in case.X.groupby(list(case.true)).indices.values():
            assert np.ptp(case.shares[rows], axis=0).max() < 1e-12, setting


def test_every_true_feature_changes_the_shares(cases):
    for setting in ("copies, 20% flips", "exclusive or of two, with copies", "labels without noise", "four classes"):
        case = made(cases, setting)
        for name in case.true:
            rest = [other for other in case.true if other != name]
            gaps = [np.ptp(case.shares[rows], axis=0).max() for rows in case.X.groupby(rest).indices.values()]
            assert max(gaps) > 0.05, (setting, name)


def test_copies_and_links_differ_in_the_share_named(cases):
    for flips in (10, 20, 30):
        case = made(cases, f"copies, {flips}% flips")
        for name in case.true:
            for i in (1, 2):
                differ = (codes(case, name) != codes(case, f"{name} copy {i}")).mean()
                assert differ == pytest.approx(flips / 100, abs=0.03)
    chain = made(cases, "Markov chain, 30% flips")
    differ = [(codes(chain, f"link {i}") != codes(chain, f"link {i + 1}")).mean() for i in range(1, 20)]
    assert differ == pytest.approx([0.3] * 19, abs=0.04)


def test_numbers_are_correlated_as_named_whatever_their_margins(cases):
    for correlation in (0.8, 0.95):
        case = made(cases, f"numbers correlated {correlation}")
        assert {case.X[name].dtype.kind for name in case.X} == {"f"}
        ranks = case.X.rank()
        found = [ranks[f"number {i}"].corr(ranks[f"number {i + 1}"]) for i in range(1, 12)]
        expected = 6 / np.pi * np.arcsin(correlation / 2)  # of ranks, for normal numbers with this correlation
        assert found == pytest.approx([expected] * 11, abs=0.04)
        assert case.X["number 2"].min() > 0
        assert case.X["number 3"].between(0, 1).all()


def test_exclusive_or_is_right_in_nine_of_ten_rows_and_no_feature_tells_alone(cases):
    for setting in ("exclusive or of two, with copies", "exclusive or of three"):
        case = made(cases, setting)
        odd = sum(codes(case, name) for name in case.true) % 2
        assert (odd == case.y).mean() == pytest.approx(0.9, abs=0.02)
        for name in case.true:
            assert abs(np.corrcoef(codes(case, name), case.y)[0, 1]) < 0.1


def test_labels_without_noise_are_a_function(cases):
    case = made(cases, "labels without noise")
    assert set(np.unique(case.shares)) == {0.0, 1.0}
    a, b, c = (codes(case, name) == 0 for name in "abc")
    np.testing.assert_array_equal(case.y, a & (b | c))


def test_noise_has_the_number_of_values_named(cases):
    for n_values in (5, 50, 500):
        case = made(cases, f"noise of {n_values} values")
        assert 0.95 * n_values <= case.X["noise 1"].nunique() <= n_values


def test_halves_of_the_values_are_never_all_rows(cases):
    rng = np.random.default_rng(0)
    for counts in ([9, 1], [1, 9], [1, 1, 8], [3, 3, 3, 3]):
        for _ in range(10):
            bits = cases.random_half(np.repeat(np.arange(len(counts)), counts), rng)
            assert 0 < bits.mean() < 1


def test_long_rules_have_a_neighbour_beside_every_feature(cases):
    found = {case.setting: case for case in cases.long_cases([0], settings=list(cases.LONG))}
    assert list(found) == list(cases.LONG)
    for setting, case in found.items():
        assert f"{len(case.X):,} rows" in setting
        assert sorted(case.X) == sorted([*case.true, *(f"beside {name}" for name in case.true)])
        for name in case.true:
            beside = f"beside {name}"
            if case.X[name].dtype.kind == "f":
                tie = np.corrcoef(case.X[name], case.X[beside])[0, 1]
            else:
                n_values = case.X[name].nunique()
                tie = 1 - (case.X[name] != case.X[beside]).mean() * n_values / (n_values - 1)
            assert tie == pytest.approx(cases.NEIGHBOUR, abs=0.08), (setting, name)
        assert np.log(case.shares[:, 1] / case.shares[:, 0]).std() == pytest.approx(cases.STRENGTH)
    assert {len(case.true) for case in found.values()} == {4, 5, 6, 7, 8}


def test_exclusive_or_beside_numbers_is_stronger_than_each_of_them(cases):
    case = next(cases.long_cases([0], settings=["exclusive or beside 4, 8,000 rows"]))
    assert case.true[:2] == ("a", "b")
    log_odds = np.log(case.shares[:, 1] / case.shares[:, 0])
    odd = 2 * (codes(case, "a") ^ codes(case, "b")) - 1
    terms = np.column_stack([np.ones(len(odd)), odd, case.X[list(case.true[2:])]])
    weights, rest = np.linalg.lstsq(terms, log_odds)[:2]
    assert rest == pytest.approx(0, abs=1e-9)
    assert weights[1] / weights[2:] == pytest.approx([1.5] * 4)
    assert abs(np.corrcoef(codes(case, "a"), case.y)[0, 1]) < 0.05


def test_long_rules_on_real_features_read_six_or_nine(real):
    settings = list(real.LONG_RULES)
    found = list(real.long_cases([0], settings=settings, tables=["compas", "vehicle", "vote", "car"]))
    # vote has too few rows, car no column more than six, compas none more than nine.
    shapes = [(case.table, len(case.true)) for case in found]
    assert shapes == [*[("compas", 6), ("vehicle", 6)] * 2, *[("vehicle", 9)] * 2]
    assert {case.kind for case in found} == {"long"}
    assert len({case.name for case in found}) == len(found)
    for case in found:
        assert len(set(case.true)) == len(case.true)
        seen = np.column_stack([real.values_seen_by_rule(case.X[name]) for name in case.true])
        place = np.unique(seen, axis=0, return_inverse=True)[1].ravel()
        mean = np.bincount(place, case.shares[:, 1]) / np.bincount(place)
        np.testing.assert_allclose(mean[place], case.shares[:, 1])


def test_mixed_features_are_those_of_blesch_watson_and_wright(cases):
    found = {case.setting: case for case in cases.blesch_cases([0])}
    assert list(found) == [f"{k} levels, {n} rows" for k in (5, 3) for n in ("300", "1,000", "3,000")]
    for case in found.values():
        assert case.shares.min(axis=1).mean() == pytest.approx(cases.WRONG_AT_BEST, abs=1e-6)
        assert [int(name.split()[1]) for name in case.true] == [2, 4, 6, 8, 10, 12]
    case = found["5 levels, 3,000 rows"]
    for i in range(1, 9, 2):
        assert case.X[f"number {i}"].corr(case.X[f"number {i + 1}"]) == pytest.approx(0.8, abs=0.03)
    assert set(case.X["category 9"].value_counts()) == {600}
    outer = [np.where(case.X[f"number {i}"].abs() > 0.6745, -1, 1) for i in (6, 8)]
    levels = [codes(case, f"category {i}") / 2 - 1 for i in (10, 12)]
    terms = np.column_stack([case.X[["number 2", "number 4"]], *outer, *levels])
    weights, rest = np.linalg.lstsq(terms, np.log(case.shares[:, 1] / case.shares[:, 0]))[:2]
    assert rest == pytest.approx(0, abs=1e-9)
    assert weights / weights[0] == pytest.approx([1, 3, 1, 3, 1, 3])


def made_numbers(cases, seeds=(0,)):
    return list(cases.number_cases(seeds, settings=[on_made for _, on_made in cases.NUMBERS.values()]))


def test_numbers_are_the_rule_and_noise(cases):
    found = made_numbers(cases, range(3))
    assert len({case.name for case in found}) == len(found) == 3 * len(cases.NOISES) * len(cases.WITH_LOG_ODDS)
    explained = {setting: [] for _, setting in cases.NUMBERS.values()}
    for case in found:
        assert case.has_numbers
        assert case.shares.shape == (len(case.X), 1)
        assert case.y.dtype.kind == "f"
        label = np.log(case.y) if case.setting.startswith("prices") else case.y
        signal = case.shares[:, 0]
        if case.setting.startswith("counts"):
            signal = np.exp(0.6 * signal / cases.STRENGTH)
        explained[case.setting].append(np.corrcoef(signal, label)[0, 1] ** 2)
    for setting, shares in explained.items():
        assert np.mean(shares) == pytest.approx(0.6, abs=0.07), setting
    counts = [case.y for case in found if case.setting.startswith("counts")]
    assert all((y == y.astype(int)).all() and y.min() >= 0 for y in counts)
    assert np.mean(np.concatenate(counts)) == pytest.approx(3.2, abs=0.3)
    skewed = next(case for case in found if case.setting.startswith("skewed"))
    noise = skewed.y - skewed.shares[:, 0]
    assert np.mean(noise) > 1.3 * np.median(noise)


def test_every_table_and_noise_has_each_rule_by_turns(real):
    found = [
        case
        for case in real.number_cases(range(3), tables=["vote", "compas"])
        if case.table and case.setting.startswith("skewed")
    ]
    names = [case.name.split(", ")[:2] for case in found]
    assert sorted(names) == sorted([table, rule] for table in ("vote", "compas") for rule in real.RULES)


def test_missing_data_is_said_in_one_line(cases, tmp_path, monkeypatch):
    monkeypatch.delenv("ANALOGICAL_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"let ANALOGICAL_DATA name the folder that holds real/\."):
        next(cases.real_cases())
    with pytest.raises(FileNotFoundError, match="The real tables are missing"):
        next(cases.shuffled_cases(folder=tmp_path))


def test_rules_on_real_features(real):
    found = {case.name: case for case in real.real_cases([0], tables=["vote", "breast-cancer", "adult"])}
    assert len(found) == 9
    # The first prototype drew these; figures can be compared as long as they stay.
    assert found["adult, main, seed 0"].true == ("1", "5", "12", "0")
    assert found["breast-cancer, interaction, seed 0"].true[:2] == ("node-caps", "deg-malig")
    assert [int(case.y.sum()) for case in found.values()] == [223, 227, 220, 154, 136, 127, 991, 976, 1011]
    for case in found.values():
        assert len(case.true) == len(set(case.true)) <= (3 if case.setting == "interaction" else 4)
        assert len(case.X) == len(case.y) == len(case.shares) <= real.MAX_ROWS
        log_odds = np.log(case.shares[:, 1] / case.shares[:, 0])
        assert log_odds.mean() == pytest.approx(0, abs=1e-9)
        assert log_odds.std() == pytest.approx(real.STRENGTH)
        seen = np.column_stack([real.values_seen_by_rule(case.X[name]) for name in case.true])
        place = np.unique(seen, axis=0, return_inverse=True)[1].ravel()
        mean = np.bincount(place, case.shares[:, 1]) / np.bincount(place)
        np.testing.assert_allclose(mean[place], case.shares[:, 1])
        for i, name in enumerate(case.true):
            same_on_others = np.unique(np.delete(seen, i, axis=1), axis=0, return_inverse=True)[1].ravel()
            groups = [case.shares[same_on_others == group, 1] for group in np.unique(same_on_others)]
            assert max(map(np.ptp, groups)) > 0.05, (case.name, name)


def test_shuffled_labels_are_the_table_s_own_and_nothing_is_true(real):
    first, other = real.shuffled_cases([0, 1], tables=["vote"])
    assert first.true == ()
    assert sorted(np.bincount(first.y)) == [168, 267]
    assert not (first.y == other.y).all()
    assert first.X.equals(other.X)


def test_columns_that_a_rule_sees_alike_are_kept_once(cases, tmp_path):
    (tmp_path / "real").mkdir()
    lines = [f"{'xyz'[i % 3]},{'pqr'[i % 3]},{i % 2},0,{i // 6}" for i in range(12)]
    (tmp_path / "real" / "made.csv").write_text("a,renamed,b,constant,label\n" + "\n".join(lines))
    X, label = cases.read_table("made", tmp_path / "real")
    assert list(X) == ["a", "b"]
    assert label.tolist() == [0] * 6 + [1] * 6


# ---------------------------------------------------------------- measures


def test_average_precision_is_scikit_learn_s(benchmark):
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = {f"x{i}": float(score) for i, score in enumerate(rng.integers(0, 6, 12))}
        true = set(rng.choice(list(scores), 3, replace=False).tolist())
        expected = average_precision_score([name in true for name in scores], list(scores.values()))
        assert benchmark.average_precision(scores, true) == pytest.approx(expected)


def test_average_precision_takes_no_score_for_the_lowest(benchmark):
    assert benchmark.average_precision({"a": 2.0, "b": 1.0, "c": 0.0}, ("a", "c")) == pytest.approx((1 + 2 / 3) / 2)
    assert benchmark.average_precision({"a": np.nan, "b": -5.0}, ("a",)) == 0.5


def test_power_and_false_share(benchmark):
    case = {"true": ["a", "b"]}
    assert benchmark.power(case, {"called": ["a", "x"]}) == 0.5
    assert benchmark.false_share(case, {"called": ["a", "x", "y"]}) == pytest.approx(2 / 3)
    assert benchmark.false_share(case, {"called": []}) == 0
    assert benchmark.power(case, {}) is benchmark.false_share(case, {}) is None
    nothing = {"true": []}
    assert benchmark.power(nothing, {"called": ["x"]}) is None
    assert [benchmark.any_called(nothing, {"called": called}) for called in ([], ["x"])] == [0, 1]


# ---------------------------------------------------------------- running


@pytest.fixture
def oracle(benchmark, monkeypatch):
    """Methods that know the names of the true features: one calls a false one, too; one fails; one only scores."""

    def knows(X, y):
        return {name: float(name in "abc") for name in X}, {"a", "b", "noise 1"}

    def fails(X, y):
        raise ValueError("too hard")

    def scores(X, y):
        return {name: float(name == "a") for name in X}, None

    method = benchmark.METHODS["MI"].__class__
    monkeypatch.setattr(
        benchmark,
        "METHODS",
        {
            "knows": method(knows, "it knows.", True, True),
            "fails": method(fails, "it fails.", True),
            "scores": method(scores, "it scores.", False),
        },
    )
    return benchmark


def test_what_was_measured_is_not_measured_again(oracle, cases, tmp_path, monkeypatch):
    chosen = list(cases.synthetic_cases([0], settings=["noise of 5 values", "labels without noise"]))
    oracle.measure(chosen, ["knows", "fails"], tmp_path)
    oracle.measure(chosen, ["scores"], tmp_path)
    content = oracle.load(tmp_path)
    assert list(content["cases"]) == [case.name for case in chosen]
    said = content["answers"]["knows"]["noise of 5 values, seed 0"]
    assert said["precision"] == 1
    assert sorted(said["called"]) == ["a", "b", "noise 1"]
    assert content["answers"]["fails"]["noise of 5 values, seed 0"]["error"] == "ValueError: too hard"
    monkeypatch.setattr(oracle, "answer", None)
    oracle.measure(chosen, ["knows", "fails", "scores"], tmp_path)
    assert oracle.load(tmp_path) == content


def test_a_library_that_is_missing_is_not_recorded_as_a_failure(oracle, cases, tmp_path, monkeypatch):
    def imports(X, y):
        raise ModuleNotFoundError("No module named 'boruta'")

    monkeypatch.setitem(oracle.METHODS, "fails", oracle.METHODS["fails"].__class__(imports, "it imports.", True))
    with pytest.raises(ModuleNotFoundError):
        oracle.measure(cases.blesch_cases([0], settings=["3 levels, 300 rows"]), ["fails"], tmp_path)
    assert oracle.load(tmp_path)["answers"] == {}


def test_page_says_what_was_called_in_every_case(oracle, cases, tmp_path):
    oracle.measure(cases.synthetic_cases([0], settings=["noise of 5 values"]), ["knows", "fails", "scores"], tmp_path)
    nothing_true = made(cases, "noise of 5 values", 1)
    nothing_true = replace(nothing_true, name="z", kind="shuffled", setting="shuffled", true=())
    oracle.measure([nothing_true], ["knows", "fails", "scores"], tmp_path)
    assert "z" not in oracle.load(tmp_path)["answers"]["scores"]
    text = oracle.page(oracle.load(tmp_path))
    assert "answered: 0 real, 1 synthetic, 0 long, 0 blesch, 0 numbers, 1 shuffled." in text
    assert "| knows | – | 0.667 / 0.333 | – | – | – | 1.000 |" in text
    assert "### Synthetic (1 cases)" in text
    assert "| knows | 1.000 | 0.667 | 0.333 |" in text
    assert "| scores | 0.556 | – | – |" in text  # (1 + 3/9 + 3/9) / 3
    assert "| shuffled | knows | 1 | – | – | 1.000 |" in text
    assert "- knows: z (" in text
    every = oracle.answers_page(oracle.load(tmp_path))
    assert "| noise of 5 values, seed 0 | 2,000 | 9 | 1.00 | a, b, c |" in every
    assert "**noise 1**" in every
    assert "- fails, noise of 5 values, seed 0: ValueError: too hard" in text


def test_means_are_over_the_cases_that_all_methods_have_answered(oracle, cases, tmp_path):
    both = ["noise of 5 values", "labels without noise"]
    oracle.measure(cases.synthetic_cases([0], settings=both), ["knows"], tmp_path)
    oracle.measure(cases.synthetic_cases([0], settings=both[:1]), ["scores"], tmp_path)
    oracle.measure(cases.blesch_cases([0], settings=["3 levels, 300 rows"]), ["knows"], tmp_path)
    content = oracle.load(tmp_path)
    assert oracle.common_cases(content, "synthetic") == ["noise of 5 values, seed 0"]
    assert oracle.common_cases(content, "blesch") == ["3 levels, 300 rows, seed 0"]  # only one method was asked
    assert "| synthetic | knows | 2 | 1.000 ± 0.000 | 0.667 ± 0.000 | 0.333 ± 0.000 |" in oracle.own_table(content)


def test_standard_errors_are_those_of_the_mean(oracle):
    cases = {f"case {i}": {"true": ["a", "b"]} for i in range(3)}
    called = [["a", "b"], ["a"], ["a"]]
    said = {name: {"called": names} for name, names in zip(cases, called, strict=True)}
    content = {"cases": cases, "answers": {"knows": said}}
    assert oracle.with_error(content, "knows", cases, oracle.power) == "0.667 ± 0.167"  # .5 / sqrt(3) / sqrt(3)
    assert oracle.with_error(content, "knows", list(cases)[:1], oracle.power) == "1.000"
    assert oracle.with_error(content, "knows", [], oracle.power) == "–"


def test_an_exclusive_or_is_found_if_both_of_its_features_are(oracle):
    case = {"true": ["a", "b", "c"]}
    assert oracle.both_found(case, {"called": ["b", "a"]}) == 1
    assert oracle.both_found(case, {"called": ["a", "c"]}) == 0
    assert oracle.both_found(case, {}) is None


def test_again_forgets_what_these_methods_said_about_these_kinds(oracle):
    cases = {"x, seed 0": {"kind": "long"}, "x, seed 4": {"kind": "long"}, "y": {"kind": "real"}}
    content = {"machine": "", "cases": cases, "answers": {m: {n: {} for n in cases} for m in ("knows", "fails")}}
    kept = oracle.forget(content, ["knows"], ["long", "blesch"])["answers"]
    assert {method: list(said) for method, said in kept.items()} == {"knows": ["y"], "fails": list(cases)}


def test_every_setting_is_in_one_group(oracle, cases):
    grouped = [setting for settings in oracle.GROUPS.values() for setting in settings]
    settings = [*cases.RULES, *cases.SETTINGS, *cases.LONG, *cases.LONG_RULES, *cases.BLESCH]
    settings += [setting for two in cases.NUMBERS.values() for setting in two]
    assert sorted(grouped) == sorted(settings)


def test_every_rival_scores_every_feature_of_an_easy_table(benchmark, cases):
    case = made(cases, "copies, 20% flips, 200 rows")
    X = case.X[["a", "b", "noise 1"]].assign(number=np.arange(200.0) % 7)
    y = (codes(case, "a") == 0).astype(int)
    for name in ("MI", "MultiSURF", "logistic regression"):
        scores, called = benchmark.METHODS[name].run(X, y)
        assert list(scores) == list(X)
        assert max(scores, key=scores.get) == "a", name
        assert called in (None, {"a"})


@pytest.mark.filterwarnings("ignore")
def test_conditional_randomization_takes_words_numbers_rare_values_and_many_classes(benchmark, cases):
    pytest.importorskip("hidimstat")
    case = made(cases, "four classes")
    X = case.X[["a", "noise 1"]].iloc[:400].assign(number=np.arange(400.0) % 7, name=[f"n{i}" for i in range(400)])
    X.loc[0, "number"] = np.nan
    a = (codes(case, "a") == 0)[:400]
    for y in (a.astype(int), np.where(a, 2, np.arange(400) % 2)):
        scores, called = benchmark.METHODS["D0CRT"].run(X, y)
        assert list(scores) == list(X)
        assert max(scores, key=scores.get) == "a"
        assert "a" in called
        assert not called & {"name", "noise 1"}


def test_features_without_a_place_in_our_order_are_last(benchmark):
    X = pd.DataFrame({name: [0] for name in "abc"})
    assert sys.modules["methods"].from_order(X, ["b", "a"]) == {"a": -1, "b": 0, "c": -3}


# ---------------------------------------------------------------- numbers


def test_least_squares_is_the_analysis_of_variance(benchmark):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 3, 80).astype(str), "b": rng.integers(0, 4, 80).astype(str)})
    y = X["a"].astype(float).to_numpy() + rng.normal(size=80)
    X["c"] = "same"
    methods = sys.modules["methods"]
    scores, called = methods.least_squares(X, y)
    full = smf.ols("y ~ C(a) + C(b)", X.assign(y=y)).fit()
    p = anova_lm(full, typ=2)["PR(>F)"]
    assert called == {"a"}
    assert -scores["a"] == pytest.approx(p["C(a)"], abs=1e-6)
    assert -scores["b"] == pytest.approx(p["C(b)"], abs=1e-6)
    assert scores["c"] == pytest.approx(-1)


def test_methods_answer_about_the_labels_that_they_are_for(benchmark, cases, tmp_path):
    case = next(cases.number_cases([0], settings=["counts, made-up features"]))
    few = replace(case, X=case.X[:150], y=case.y[:150], shares=case.shares[:150])
    benchmark.measure([few], ["relevance", "five classes", "MI", "least squares"], tmp_path)
    content = benchmark.load(tmp_path)
    assert sorted(content["answers"]) == ["five classes", "least squares", "relevance"]
    assert not benchmark.errors(content)
    assert "### Numbers: counts (1 cases)" in benchmark.page(content)
