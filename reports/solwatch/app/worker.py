"""A worker process: discovers the suite against one side's build and measures the cells it is told to."""

import contextlib
import os
import socket
import sys
import threading
import traceback

import msgspec

from solwatch.app.channel import Channel, ChannelClosed
from solwatch.app.explained import plan_of
from solwatch.app.reads import watch_reads
from solwatch.asvio.discovery import AsvCell, Discovery, discover
from solwatch.asvio.modules import modules_missed
from solwatch.device.caches import CacheWatch
from solwatch.device.opening import near_device, open_device
from solwatch.model.ports import Device
from solwatch.model.protocol import (
    CeilingsMeasured,
    Describe,
    Described,
    Discover,
    Discovered,
    Failed,
    Findings,
    Look,
    Looked,
    Measure,
    MeasureCeilings,
    Measured,
    MeasureEnergy,
    Open,
    Opened,
    Prepare,
    Prepared,
    Release,
    Released,
    Reply,
    Request,
    Watching,
    WatchReads,
)
from solwatch.model.raised import said
from solwatch.model.record import Block, Failure
from solwatch.model.why import Called

LOG_LIMIT_BYTES = 1 << 20


def serve(connection: socket.socket) -> None:
    """Answer requests until the other end closes; an exception of a cell becomes a ``Failed`` reply."""
    channel: Channel[Request] = Channel(connection, Request)
    worker = Worker()
    me = os.getpid()
    while True:
        try:
            request = channel.receive()
        except ChannelClosed:
            return
        try:
            reply = worker.answer(request)
        except BaseException as error:  # pytest.skip and cancellations are no Exception
            traceback.print_exc()
            reply = Failed(failure=failure_of(error))
        if os.getpid() != me:
            os._exit(0)  # a copy of this process that the suite's code forked: only one may answer
        _bound_log()
        channel.send(reply)
        if isinstance(reply, Measured):
            worker.get_ready()


def _bound_log() -> None:
    """Empty the log when what the suite printed has grown too large: it must not fill the disk."""
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # not a file: a terminal, when run by hand
        if os.fstat(1).st_size > LOG_LIMIT_BYTES:
            os.ftruncate(1, 0)
            print(f"(more than {LOG_LIMIT_BYTES} bytes were printed; the log was emptied)", flush=True)


class Worker:
    """The state of a worker: the open suite and device, and the prepared cell."""

    def __init__(self) -> None:
        """Start with nothing open."""
        self._discovery: Discovery | None = None
        self._device: Device | None = None
        self._device_name = ""
        self._asv_cell: AsvCell | None = None
        self._threads_before: set[threading.Thread] = set()
        self._read: set[str] = set()

    def answer(self, request: Request) -> Reply:
        """Do what one request asks; raises what the suite raises."""
        match request:
            case Discover():
                with modules_missed() as missed:
                    found = self._discovery = discover(request.benchmarks_dir)
                near_device(request.device)
                return Discovered(
                    cells=found.infos, import_failures=found.import_failures, modules_missed=sorted(missed)
                )
            case Open():
                return self._open(request)
            case Describe():
                return self._describe(request)
            case WatchReads():
                self._read = watch_reads(request.folder)
                return Watching()
            case Look():
                return self._look(request)
            case Prepare():
                return self._prepare(request)
            case Measure():
                return Measured(block=self._measure(request.target_s))
            case MeasureEnergy():
                return self._open_device().measure_energy(request.loop_s)
            case MeasureCeilings():
                return CeilingsMeasured(ceilings=self._open_device().ceilings(request.dtypes))
            case Release():
                self._release()
                return Released(threads_left=len(set(threading.enumerate()) - self._threads_before))

    def get_ready(self) -> None:
        """Prepare the next block while the other side measures."""
        if self._device is not None:
            self._device.get_ready()

    def _open(self, request: Open) -> Opened:
        discovery = self._discovery = self._discovery or discover(request.benchmarks_dir)
        self._device = open_device(request.device, seed=request.seed)
        self._device_name = request.device
        return Opened(
            cells=discovery.infos,
            fingerprint=self._device.fingerprint(),
            import_failures=discovery.import_failures,
        )

    def _describe(self, request: Describe) -> Described:
        work = {}
        for key in request.keys:
            try:
                work[key] = self._suite().suite_cell(key).work
            except BaseException:
                traceback.print_exc()
        return Described(work=work)

    def _prepare(self, request: Prepare) -> Prepared:
        self._threads_before = set(threading.enumerate())
        info = self._suite().info(request.key)
        if info.kind == "suite":
            cell = self._suite().suite_cell(request.key)
            prepared = self._open_device().prepare(
                cell, seed=request.seed, check=request.check, findings=request.findings
            )
            if request.findings is not None:
                return prepared
            called = msgspec.structs.replace(prepared.called or Called(), plan=plan_of(cell, self._device_name))
            return msgspec.structs.replace(prepared, called=called)
        asv_cell = self._suite().asv_cell(request.key)
        asv_cell.setup()
        self._asv_cell = asv_cell
        return Prepared(work=None, findings=Findings(timer="wall"))

    def _look(self, request: Look) -> Looked:
        self._prepare(Prepare(key=request.key, seed=request.seed, check=request.check))
        if self._asv_cell is not None:
            self._asv_cell.run(0.0)  # a suite's own cell has run already, until nothing compiled any more
        self._release()
        return Looked(caches=CacheWatch(os.environ).digest(), read=sorted(self._read))

    def _measure(self, target_s: float) -> Block:
        if self._asv_cell is None:
            return self._open_device().measure(target_s)
        samples, number = self._asv_cell.run(target_s)
        return Block(samples_s=samples, null_s=[], number=number, timer="wall")

    def _release(self) -> None:
        if self._asv_cell is not None:
            self._asv_cell.teardown()
            self._asv_cell = None
        else:
            self._open_device().release()

    def _suite(self) -> Discovery:
        if self._discovery is None:
            raise RuntimeError("the worker was asked for a cell before it was told which suite to open")
        return self._discovery

    def _open_device(self) -> Device:
        if self._device is None:
            raise RuntimeError("the worker was asked to measure before it was told which device to open")
        return self._device


def failure_of(error: BaseException) -> Failure:
    """Return the kind and one line of an exception a cell raised."""
    names = {kind.__name__ for kind in type(error).__mro__}
    message = said(error)
    if isinstance(error, AssertionError):
        kind = "wrong"
    elif isinstance(error, NotImplementedError):
        kind = "skipped"
    elif "OutOfMemoryError" in names or isinstance(error, MemoryError):
        kind = "out_of_memory"
    elif isinstance(error, KeyError) and "unknown cell" in message:
        kind = "missing"
    else:
        kind = "raised"
    return Failure(kind=kind, message=message)
