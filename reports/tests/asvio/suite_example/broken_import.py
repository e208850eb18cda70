import no_such_module  # noqa: F401


def time_never():
    pass
