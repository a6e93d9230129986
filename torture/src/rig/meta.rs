//! The benches on trial: savers and sweepers that are wrong in one way each must be noticed, and those with nothing wrong in
//! them must not be.

use serde_json::json;
use spillway_core::store::places::Durability;

use super::faults::{self, Setting};
use super::report::{Finding, Report, Verdict};
use super::savers::Saver;
use super::sweepers::Sweeper;
use super::{Result, Rig, full_disk, kill, mounts, storm, strace, sweep_faults};

/// A bench, by what it needs.
type Trial = fn(&Rig) -> Result<Option<String>>;

fn faulty(rig: &Rig, saver: Saver, durability: Durability) -> Result<Option<String>> {
    faults::notices(rig, &Setting::new(saver, durability))
}

fn crowd(rig: &Rig, saver: Saver, sweeper: Option<Sweeper>) -> Result<Option<String>> {
    Ok(storm::storm(rig, saver, sweeper, 200)?.case)
}

/// The bugs, and the bench that each of them is for.
const BUGS: [(&str, Trial); 12] = [
    ("writes under the final name", |rig| kill::notices(rig, Saver::FinalName)),
    ("acknowledges before the file has its name", |rig| kill::notices(rig, Saver::EarlyAck)),
    ("takes a short write for a whole one", |rig| with_mounts(rig, Saver::ShortWrite)),
    ("never syncs", |rig| faulty(rig, Saver::NoSync, Durability::File)),
    ("syncs again after a failed sync", |rig| faulty(rig, Saver::SyncTwice, Durability::File)),
    ("leaves the temporary file after an error", |rig| {
        faulty(rig, Saver::LeavesTemp, Durability::Process)
    }),
    ("files that others can read", |rig| faulty(rig, Saver::Readable, Durability::Process)),
    ("renames over what is there", |rig| crowd(rig, Saver::RenameOver, None)),
    ("one temporary name for all processes", |rig| crowd(rig, Saver::SharedTemp, None)),
    ("sweeps what was just saved", |rig| crowd(rig, Saver::Sound, Some(Sweeper::SweepsFresh))),
    ("sweeps what cannot be examined", |rig| sweep_faults::notices(rig, Sweeper::StatDeletes)),
    ("follows a link when it sweeps", |rig| sweep_faults::notices(rig, Sweeper::FollowsLink)),
];

/// The same benches over what the bugs are planted in.
const CONTROLS: [(&str, Trial); 5] = [
    ("kills", |rig| kill::notices(rig, Saver::Sound)),
    ("a nearly full disk", |rig| with_mounts(rig, Saver::Sound)),
    ("faults of a save", |rig| faulty(rig, Saver::Sound, Durability::File)),
    ("a crowd", |rig| crowd(rig, Saver::Sound, Some(Sweeper::Sound))),
    ("faults of a sweep", |rig| sweep_faults::notices(rig, Sweeper::Sound)),
];

fn with_mounts(rig: &Rig, saver: Saver) -> Result<Option<String>> {
    match mounts::missing(rig) {
        Some(reason) => Err(reason.into()),
        None => full_disk::notices(rig, saver),
    }
}

pub fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B42", "planted bugs", || {
        if let Some(reason) = strace::missing().or_else(|| mounts::missing(rig)) {
            return Ok(Finding::skipped(reason));
        }
        let mut unnoticed = Vec::new();
        for (bug, trial) in BUGS {
            if trial(rig).map_err(|error| format!("{bug}: {error}"))?.is_none() {
                unnoticed.push(bug);
            }
        }
        let mut alarms = Vec::new();
        for (bench, trial) in CONTROLS {
            if let Some(case) = trial(rig).map_err(|error| format!("{bench}: {error}"))? {
                alarms.push(format!("{bench}: {case}"));
            }
        }
        let figures = vec![
            (json!(BUGS.len()), "planted"),
            (json!(BUGS.len() - unnoticed.len()), "noticed"),
            (json!(CONTROLS.len()), "benches over a saver without a bug"),
            (json!(alarms.len()), "false alarms"),
        ];
        let verdict = match (unnoticed.first(), alarms.first()) {
            (None, None) => Verdict::Passed,
            (Some(bug), _) => Verdict::Failed(format!("not noticed: {bug}")),
            (_, Some(alarm)) => Verdict::Failed(format!("a false alarm: {alarm}")),
        };
        Ok(Finding { verdict, figures })
    });
}
