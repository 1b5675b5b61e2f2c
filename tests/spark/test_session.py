"""What is said when Spark cannot be had, and when it would be the better choice."""

import signal
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from standalone import free_port

import analogical
from analogical.errors import InputError, MissingDependencyError, SparkError
from analogical.spark.session import (
    check_java,
    check_spark,
    collect,
    first_line,
    java_ends_without_session,
    open_session,
)


def fake_java(folder, version):
    program = folder / "bin" / "java"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("version", "is_new_enough"), [("17.0.2", True), ("21", True), ("11.0.9", False), ("1.8.0_1", False)]
)
def test_java_must_be_17_or_newer(tmp_path, monkeypatch, version, is_new_enough):
    fake_java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if is_new_enough:
        check_java()
    else:
        number = "8" if version.startswith("1.8") else "11"
        with pytest.raises(
            MissingDependencyError, match=rf"Spark needs Java 17 or newer; JAVA_HOME \(.*\) has {number}:"
        ):
            check_java()


def test_without_java_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        MissingDependencyError, match=r"none was found on PATH: install one, such as Debian's openjdk-17"
    ):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(MissingDependencyError, match=r"none was found on JAVA_HOME \(.*nowhere\)"):
        check_java()


def test_without_pyspark_the_message_has_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'analogical\[spark\]'"):
        check_spark()


def test_an_old_pyspark_is_refused(monkeypatch):
    old = type(sys)("pyspark")
    old.__version__ = "3.5.1"
    monkeypatch.setitem(sys.modules, "pyspark", old)
    with pytest.raises(MissingDependencyError, match=r"needs PySpark 4, and 3\.5\.1 is installed"):
        check_spark()


@pytest.mark.parametrize("master", ["nonsense", "", "local[2", "local[x]", "http://host", "spark:/host"])
def test_what_is_no_master_is_refused_before_java_starts(run, tmp_path, master):
    with pytest.raises(InputError, match=r"master must be local, .* got '"):
        open_session(master)
    file = tmp_path / "t.csv"
    file.write_text("a,y\n0,0\n1,1\n")
    code, _, errors = run("score", file, "--engine", "spark", "--master", master or "x")
    assert (code, errors.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "master", ["spark://{}", "sc://{}", "spark://{0},{0}", "spark://127.0.0.1:no", "k8s://https://{}"]
)
def test_a_master_that_does_not_answer_is_named_at_once(master):
    master = master.format(f"127.0.0.1:{free_port()}")
    began = time.monotonic()
    with pytest.raises(SparkError, match=r"Nothing answers at '.*' \(.*\); start Spark there, or give another master"):
        open_session(master)
    assert time.monotonic() - began < 10


def test_hosts_of_one_master_share_the_seconds_to_accept_a_connection(monkeypatch):
    waits = []
    monkeypatch.setattr(socket, "create_connection", lambda address, seconds: waits.append((address, seconds)) or 1 / 0)
    monkeypatch.setattr("analogical.spark.session.SECONDS", 6)
    with pytest.raises(ZeroDivisionError):
        open_session("spark://a:1,b,c:3")
    assert waits == [(("a", 1), 2.0)]


@pytest.mark.parametrize("kind", ["spark", "k8s"])
def test_an_address_that_accepts_and_never_answers_is_named_before_java_starts(monkeypatch, kind):
    monkeypatch.setattr("analogical.spark.session.SECONDS", 0.3)
    monkeypatch.setattr("analogical.spark.session.check_java", lambda: pytest.fail("Java would start"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        master = f"{kind}://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SparkError, match=rf"Nothing answers at '{master}' \(timed out\); start Spark there"):
            open_session(master)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(b"HTTP/1.1 400 Bad Request\r\n", "a web server answers there"), (b"", None), (b"\0" * 8, None)],
)
def test_a_page_is_not_a_master_and_one_that_closes_the_connection_may_be(monkeypatch, answer, reason):
    monkeypatch.setattr("analogical.spark.session.check_spark", lambda: 1 / 0)  # the master is taken as one
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ZeroDivisionError if reason is None else SparkError, match=reason):
            open_session(f"spark://127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def test_an_address_that_does_not_speak_spark_connect_is_named(monkeypatch):
    pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")
    monkeypatch.setattr("analogical.spark.session.SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        master = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SparkError, match=f"No server of Spark Connect answers at '{master}'; start one there"):
            open_session(master)


def test_java_is_ended_where_a_master_does_not_answer_and_nothing_is_left_of_it(monkeypatch):
    from pyspark import SparkContext

    n_threads, ended = threading.active_count(), threading.Event()
    monkeypatch.setattr(SparkContext, "_ensure_initialized", lambda: None)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=SimpleNamespace(terminate=ended.set)))
    monkeypatch.setattr(SparkContext, "_jvm", "of a process")
    monkeypatch.setattr("analogical.spark.session.ANSWER_SECONDS", 0.05)

    def wait():
        with java_ends_without_session("spark://host:7077"):
            assert ended.wait(5)
            raise RuntimeError("Java has ended")

    with pytest.raises(
        SparkError, match=r"What listens at 'spark://host:7077' did not answer as a Spark master in 0 s"
    ):
        wait()
    assert (SparkContext._gateway, SparkContext._jvm) == (None, None)
    assert threading.active_count() == n_threads


def test_java_goes_on_where_the_master_answers_in_time(monkeypatch):
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_ensure_initialized", lambda: None)
    monkeypatch.setattr(SparkContext, "_gateway", "running")
    with java_ends_without_session("spark://host:7077"):
        pass
    with pytest.raises(ValueError, match="of another kind"), java_ends_without_session("spark://host:7077"):
        raise ValueError("of another kind")
    assert SparkContext._gateway == "running"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_java_that_was_started_ends_with_what_went_wrong(monkeypatch, error):
    from pyspark import SparkContext, java_gateway

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    started = []

    def interrupted():
        with java_ends_without_session("local[2]"):
            started.append(java_gateway.Popen(["sleep", "60"]))
            SparkContext._gateway = "of a process"
            raise error

    with pytest.raises(error):
        interrupted()
    assert started[0].wait(10) == -signal.SIGTERM
    assert SparkContext._gateway is None
    assert java_gateway.Popen is subprocess.Popen


def test_jobs_that_ctrl_c_cancelled_are_an_interruption_and_no_error():
    def cancelled():
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("Job 3 cancelled as part of cancellation of all jobs")

    with pytest.raises(KeyboardInterrupt):
        collect(SimpleNamespace(toArrow=cancelled), "the count")


def test_the_verbs_of_the_package_are_those_for_spark():
    for name in ("Study", "audit", "evidence", "interactions", "redundancies", "relevance", "report", "select"):
        assert getattr(analogical.spark, name) is getattr(analogical, name)
    assert (analogical.spark.select, analogical.spark.transitions) == (analogical.select, analogical.transitions)
    with pytest.raises(AttributeError, match=r"module 'analogical\.spark' has no attribute 'compare'"):
        analogical.spark.compare  # noqa: B018


def test_yarn_needs_to_know_where_it_runs(monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    monkeypatch.setattr("analogical.spark.session.check_java", lambda: None)
    with pytest.raises(SparkError, match="The master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR"):
        open_session("yarn")


def test_errors_of_spark_in_one_line():
    text = (
        "An error occurred while calling o12.x.\n: org.apache.spark.SparkException: Job aborted: no luck.\n\tat a.b()"
    )
    assert first_line(RuntimeError(text)) == "org.apache.spark.SparkException: Job aborted: no luck"
    assert first_line(RuntimeError("")) == "RuntimeError"
    text = '<_InactiveRpcError of RPC:\n\tstatus = X\n\tdetails = "no such service"\n>'
    assert first_line(RuntimeError(text)) == "no such service"
    assert first_line(RuntimeError("[JAVA_GATEWAY_EXITED] Java")).startswith("Java ended before Spark began")


def test_a_master_needs_the_engine(run):
    code, _, errors = run("score", "monks-1", "--master", "local[2]")
    assert code == 2
    assert "--master local[2] applies to Spark only; add --engine spark." in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-",), "cannot read standard input"),
        (("monks-1",), "is counted in memory"),
    ],
)
def test_what_spark_cannot_read_is_refused_before_it_starts(run, arguments, message):
    code, _, errors = run("score", *arguments, "--engine", "spark")
    assert code == 2
    assert message in errors
