"""Which studies the report of the built-in paper shows, in its order."""

from __future__ import annotations

STUDIES = tuple(
    f"giantsteps.reports.{name}"
    for name in (
        "studies.paper.after_step:STUDY_1", "studies.paper.after_step:STUDY_2", "studies.paper.along_spike:STUDY_3",
        "studies.paper.spikes:STUDY_4", "studies.paper.spikes:STUDY_5", "studies.paper.letters:STUDY_6",
        "studies.paper.along_spike:STUDY_7", "studies.vocabulary", "measurements.calibration:study",
        "measurements.network_trial:study", "studies.networks.any_activation:study",
        "studies.networks.several_steps:study", "studies.networks.steps_and_samples:study",
        "studies.networks.practitioner", "studies.networks.step_helps:study", "studies.finite_samples",
        "studies.other_inputs", "studies.networks.initial_overlap", "studies.networks.second_step",
        "studies.networks.learning_rate", "studies.width", "studies.threshold", "studies.bound_functions:study",
        "studies.best_ridge:study", "studies.spectrum_sample:study", "studies.speed:study",
    )
)  # fmt: skip

# The figures of the paper that other studies have as well, by the slug of the study.
ALSO = {"width": 5, "vocabulary": 6, "bound-functions": 7, "spectrum_sample": 8}
