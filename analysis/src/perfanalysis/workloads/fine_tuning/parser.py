"""Parse the logs of a fine-tuning job."""

from __future__ import annotations

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.job import KIND, MARKER, job_of, logging_steps_of, logs_to_read
from perfanalysis.workloads.fine_tuning.logs import reading
from perfanalysis.workloads.fine_tuning.tables import GPU_SAMPLES, FineTuningTables

SAMPLES = "gpu_samples.jsonl"
FILES = (MARKER, SAMPLES, "logs/*.log")


def parse(source: RecordingFiles) -> FineTuningTables:
    """Return the steps and facts of the trainer's log, and the problems of all logs, as typed tables."""
    document = source.document(MARKER, KIND)
    job = job_of(document)
    names = logs_to_read(source, document) or source.names("logs/*.log")
    logs = reading.read_logs(source.place.directory, names, job.workload, logging_steps_of(job))
    trainer = reading.trainers_log(logs)
    return FineTuningTables(
        steps=reading.steps_frame(trainer),
        facts=reading.facts_frame(trainer),
        problems=reading.problems_frame(logs),
        gpu_samples=source.json_lines(SAMPLES, GPU_SAMPLES, optional=True),
    )
