def track_sub():
    return 5
