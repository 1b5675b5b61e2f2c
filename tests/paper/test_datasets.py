"""The paper's data files: generated, read, relabelled, downloaded from a local server, and refused."""

import functools
import hashlib
import http.server
import threading

import numpy as np
import pytest

from analogical import InputError
from analogical.paper import datasets
from analogical.paper.datasets import describe_missing, download_datasets, find_folder, load_dataset, published
from analogical.rivals import paper_index


def test_monks_1_is_generated_as_published(data_folder):
    published = np.loadtxt(data_folder / "monks-1.csv", delimiter=",", dtype=int)
    generated = load_dataset("monks-1")
    np.testing.assert_array_equal(generated.codes, published[:, :-1] - 1)
    np.testing.assert_array_equal(generated.labels, published[:, -1])


@pytest.mark.parametrize("name", ["monks-2", "monks-3"])
def test_the_first_432_rows_of_monks_follow_the_rule(name, data_folder):
    rule, file = load_dataset(f"{name}-rule"), load_dataset(name, data_folder)
    np.testing.assert_array_equal(file.codes[:432], rule.codes)
    np.testing.assert_array_equal(file.labels[:432], rule.labels)


@pytest.mark.parametrize("name", published("files"))
def test_published_files_have_their_checksum_and_shape(name, data_folder):
    dataset, file = load_dataset(name, data_folder), published("files")[name]
    assert describe_missing([name], data_folder) == []
    assert dataset.codes.shape == (file["n_rows"], file["n_columns"] - 1)
    for column in (*dataset.codes.T, dataset.labels):
        assert set(column) == set(range(column.max() + 1))


def test_breast_cancer_gets_its_class_back(data_folder):
    published, right = load_dataset("breast-cancer", data_folder), load_dataset("breast-cancer-class", data_folder)
    np.testing.assert_array_equal(published.labels, published.codes[:, 5])
    assert np.bincount(right.labels).tolist() == [196, 81]
    assert right.feature_names == ("a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9")


def test_primary_tumor_gets_its_class_back_and_keeps_the_attribute(data_folder):
    published, right = load_dataset("primary-tumor", data_folder), load_dataset("primary-tumor-class", data_folder)
    assert len(set(right.labels)) == 18
    assert right.codes.shape == (132, 17)
    np.testing.assert_array_equal(right.codes[:, -1], published.labels)


def test_the_paper_s_index_has_nothing_to_say_on_mushroom(data_folder):
    dataset = load_dataset("mushroom", data_folder)
    assert set(paper_index(dataset.codes, dataset.labels)) == {0, 2}


def test_numbers_are_sorted_as_numbers(tmp_path, monkeypatch):
    monkeypatch.setitem(published("files"), "tiny", {"title": "Tiny", "n_rows": 3, "n_columns": 2, "sha256": ""})
    (tmp_path / "tiny.csv").write_text("10,b\n9,a\n2,b\n")
    tiny = load_dataset("tiny", tmp_path)
    assert tiny.codes[:, 0].tolist() == [2, 1, 0]
    assert tiny.labels.tolist() == [1, 0, 1]
    (note,) = describe_missing(["tiny"], tmp_path)
    assert note.startswith("tiny.csv is not the published file (its checksum differs)")


def test_missing_files_are_none_and_named(tmp_path):
    assert load_dataset("hiv", tmp_path) is load_dataset("hiv") is load_dataset("breast-cancer-class") is None
    for folder in (None, tmp_path):
        (sentence,) = describe_missing(list(published("files")), folder)
        assert all(f"{name}.csv" in sentence for name in published("files"))
    assert describe_missing(["monks-1", "hiv", "monks-2"], None) == [
        "Missing data: hiv.csv, monks-2.csv. Name the folder that holds them with --data or ANALOGICAL_DATA,"
        " or fetch them with --download."
    ]


def test_folder_is_the_one_named_or_that_of_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("ANALOGICAL_DATA", str(tmp_path))
    (tmp_path / "other").mkdir()
    assert find_folder() == tmp_path
    assert find_folder(tmp_path / "other") == tmp_path / "other"
    with pytest.raises(InputError, match=r"--data names '.*nowhere', which is not a folder; give the folder"):
        find_folder(tmp_path / "nowhere")
    monkeypatch.setenv("ANALOGICAL_DATA", "nowhere")
    with pytest.raises(InputError, match=r"ANALOGICAL_DATA names 'nowhere', which is not a folder"):
        find_folder()
    monkeypatch.delenv("ANALOGICAL_DATA")
    assert find_folder() is None


def test_files_of_another_shape_are_refused(tmp_path):
    (tmp_path / "hiv.csv").write_text("A,B,1\nA,1\n")
    with pytest.raises(
        InputError,
        match=r"hiv.csv' has 2 rows of 2 or 3 columns; the paper's file has 746 rows of 9 columns, no header",
    ):
        load_dataset("hiv", tmp_path)
    (tmp_path / "hiv.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"hiv.csv' cannot be read: it is not UTF-8 text\."):
        load_dataset("hiv", tmp_path)
    with pytest.raises(InputError, match=r"There is no dataset 'iris'; choose from monks-1, .*, primary-tumor-class\."):
        load_dataset("iris")


# ---------------------------------------------------------------- downloads, from this machine only


@pytest.fixture
def server(tmp_path):
    """A file server on 127.0.0.1 and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}/", folder
        running.shutdown()
        thread.join()


@pytest.fixture
def one_file(server, monkeypatch):
    """A single dataset on the local server."""
    address, folder = server
    (folder / "m.data").write_bytes(b"1,1,1\r\n1,2,0\r\n\r\n")
    sha256 = hashlib.sha256(b"1,1,1\n1,2,0\n").hexdigest()  # of the lines, whatever ends them
    file = {"title": "M", "n_rows": 2, "n_columns": 3, "sha256": sha256, "url": f"{address}m.data"}
    monkeypatch.setattr(datasets, "published", {"files": {"m": file}}.get)
    return folder


def test_download_keeps_the_published_file(one_file, tmp_path):
    target = tmp_path / "new" / "folder"
    assert describe_missing(["m"], target)[0].startswith("Missing data: m.csv.")
    assert download_datasets(target) == ["m"]
    assert load_dataset("m", target).codes.tolist() == [[0, 0], [0, 1]]
    assert describe_missing(["m"], target) == []
    (one_file / "m.data").unlink()
    assert download_datasets(target) == []  # what is there is not fetched again


def test_download_of_other_content_is_refused_and_not_kept(one_file, tmp_path):
    for content in (b"1,1,1\n1,2,1\n", b"\xff\xff"):
        (one_file / "m.data").write_bytes(content)
        with pytest.raises(
            InputError,
            match=r"for 'm' from http://127\.0\.0\.1:\d+/m\.data is not the published file \(its checksum differs\)",
        ):
            download_datasets(tmp_path)
        assert not (tmp_path / "m.csv").exists()


def test_unreachable_address_is_named(one_file, tmp_path):
    (one_file / "m.data").unlink()
    with pytest.raises(InputError, match=r"m\.data cannot be downloaded \(File not found\); try again later, or name"):
        download_datasets(tmp_path)


def test_addresses_are_public_and_encrypted():
    for file in published("files").values():
        assert file["url"].startswith("https://")
        assert len(file["sha256"]) == 64
