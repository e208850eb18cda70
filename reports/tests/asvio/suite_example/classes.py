# ruff: noqa: RUF012 - lists as class attributes are how asv wants parameters
import abc

from asv_runner.benchmarks.mark import SkipNotImplemented

LOG = []


class Size:
    """A parameter that is an object, with a name that holds an address."""

    def __init__(self, rows):
        self.rows = rows


class Objects:
    params = ([Size(1), Size(2)], ["plain", "<b>'quoted'</b>"])
    param_names = ["size", "label"]

    def setup(self, size, label):
        self.state = getattr(self, "state", 0) + 1
        LOG.append(("setup", size.rows, label))

    def teardown(self, size, label):
        LOG.append(("teardown", size.rows, label))

    def track_rows(self, size, label):
        return size.rows * 10 + self.state

    def time_rows(self, size, label):
        LOG.append(("call", size.rows, label))


class Cached:
    calls = 0
    params = [1, 2]

    def setup_cache(self):
        Cached.calls += 1
        with open("made-by-setup-cache", "w") as file:
            file.write("x" * 5)
        return {"value": 40}

    def setup(self, cache, extra):
        self.extra = extra

    def track_cached(self, cache, extra):
        with open("made-by-setup-cache") as file:
            written = len(file.read())
        cache["value"] += extra
        return cache["value"] + written


class Skips:
    params = ["runs", "not-here", "listed", "late"]
    skip_params = [("listed",)]

    def setup(self, what):
        if what == "not-here":
            raise NotImplementedError("no such device")

    def track_one(self, what):
        if what == "late":
            raise SkipNotImplemented("found out too late")
        return 1


class SetupFails:
    def setup(self):
        raise OSError("no data set")

    def track_one(self):
        return 1


class CannotBeMade:
    def __init__(self):
        raise RuntimeError("needs a GPU")

    def track_one(self):
        return 1


class Abstract(abc.ABC):
    @abc.abstractmethod
    def work(self):
        """Be defined elsewhere."""

    def time_work(self):
        self.work()
