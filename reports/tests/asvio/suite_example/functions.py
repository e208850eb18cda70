import os
import time


def time_sleep():
    time.sleep(0.002)


def time_fails():
    raise ValueError("the benchmark itself\nfails")


def time_fixed_number():
    pass


time_fixed_number.number = 7
time_fixed_number.timer = time.process_time


def timeraw_import():
    return "import json"


def mem_list():
    return [0] * 100


def peakmem_list():
    return [0] * 1000


def track_bytes():
    print("asv takes what a benchmark prints for its log")
    return 42


track_bytes.unit = "bytes"


def track_samples():
    return {"samples": [3.0, 4.0], "number": 2}


track_samples.type = "time"
track_samples.unit = "seconds"


def track_nothing():
    return None


def track_nan():
    return float("nan")


def track_folder():
    with open("mine", "x") as file:  # a folder of its own, or this would fail the second time
        file.write("here")
    return len(os.listdir("."))
