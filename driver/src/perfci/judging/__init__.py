"""The judgement of a run by its history: pull the history, judge, push the run, record the verdict."""
