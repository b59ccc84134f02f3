"""Holistic Trace Analysis loads one trace and makes its seven basic reports; for bench_analyze.

  hta_reports.py TRACE

Prints four times in seconds: loading and reports by the clock, then both as CPU time.
"""
import logging
import os
import sys
import time

logging.disable(logging.CRITICAL)

from hta.trace_analysis import TraceAnalysis  # noqa: E402: what importing it takes is not counted


def both():
    return time.monotonic(), time.process_time()


path = os.path.abspath(sys.argv[1])
said = os.dup(1)  # it prints as it goes
os.dup2(2, 1)
start = both()
analyzer = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path))
loaded = both()
analyzer.get_temporal_breakdown(visualize=False)
analyzer.get_gpu_kernel_breakdown(visualize=False)
analyzer.get_comm_comp_overlap(visualize=False)
analyzer.get_memory_bw_summary()
analyzer.get_queue_length_summary()
analyzer.get_cuda_kernel_launch_stats(visualize=False)
analyzer.get_idle_time_breakdown(visualize=False)
done = both()
times = [loaded[0] - start[0], done[0] - loaded[0], loaded[1] - start[1], done[1] - loaded[1]]
os.write(said, (" ".join("%.4f" % t for t in times) + "\n").encode())
