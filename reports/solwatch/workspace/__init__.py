"""Git, builds, locks, settings and files: everything solwatch does to a disk that holds a repository."""
