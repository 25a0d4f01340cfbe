"""What operators see of a running service: metrics, logs, traces, and how the event loop is doing."""
