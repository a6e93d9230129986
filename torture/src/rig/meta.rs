//! Tests the benches: savers and sweepers with one planted bug each must be noticed, and correct ones must not.

use serde_json::json;
use spillway_core::storage::directories::Durability;

use super::faults::{self, Setting};
use super::report::{Finding, Report, Verdict};
use super::savers::Saver;
use super::sweepers::Sweeper;
use super::{
    Result, Rig, full_disk, kill, late_sync, mounts, power_cut, storm, strace, sweep_faults,
};

/// A run of a bench over a saver or sweeper; returns the problem that it noticed.
type Trial = fn(&Rig) -> Result<Option<String>>;

/// Requirements of a trial.
#[derive(Debug, Clone, Copy)]
enum Needs {
    Nothing,
    Strace,
    Mounts,
    PowerCuts,
}

impl Needs {
    /// Returns the reason why a requirement is not met.
    fn missing(self, rig: &Rig) -> Option<String> {
        match self {
            Needs::Nothing => None,
            Needs::Strace => strace::missing(),
            Needs::Mounts => mounts::missing(rig),
            Needs::PowerCuts => power_cut::missing(rig, "ext4"),
        }
    }
}

fn faulty(rig: &Rig, saver: Saver, durability: Durability) -> Result<Option<String>> {
    faults::notices(rig, &Setting::new(saver, durability))
}

fn crowd(rig: &Rig, saver: Saver, sweeper: Option<Sweeper>) -> Result<Option<String>> {
    Ok(storm::storm(rig, saver, sweeper, 200)?.case)
}

/// The bugs, and the bench for each of them.
const BUGS: [(&str, Needs, Trial); 14] = [
    ("writes under the final name", Needs::Nothing, |rig| kill::notices(rig, Saver::FinalName)),
    ("acknowledges before the file has its name", Needs::Nothing, |rig| {
        kill::notices(rig, Saver::EarlyAck)
    }),
    ("takes a short write for a whole one", Needs::Mounts, |rig| {
        full_disk::notices(rig, Saver::ShortWrite)
    }),
    ("never syncs", Needs::Strace, |rig| faulty(rig, Saver::NoSync, Durability::File)),
    ("acknowledges what is not on the disk", Needs::PowerCuts, |rig| {
        power_cut::notices(rig, Saver::NoSync)
    }),
    ("publishes what the disk did not keep", Needs::PowerCuts, |rig| {
        late_sync::notices(rig, Saver::NoSync)
    }),
    ("syncs again after a failed sync", Needs::Strace, |rig| {
        faulty(rig, Saver::SyncTwice, Durability::File)
    }),
    ("leaves the temporary file after an error", Needs::Strace, |rig| {
        faulty(rig, Saver::LeavesTemp, Durability::Process)
    }),
    ("files that others can read", Needs::Strace, |rig| {
        faulty(rig, Saver::Readable, Durability::Process)
    }),
    ("renames over what is there", Needs::Nothing, |rig| crowd(rig, Saver::RenameOver, None)),
    ("one temporary name for all processes", Needs::Nothing, |rig| {
        crowd(rig, Saver::SharedTemp, None)
    }),
    ("sweeps what was just saved", Needs::Nothing, |rig| {
        crowd(rig, Saver::Sound, Some(Sweeper::SweepsFresh))
    }),
    ("sweeps what cannot be examined", Needs::Strace, |rig| {
        sweep_faults::notices(rig, Sweeper::StatDeletes)
    }),
    ("follows a link when it sweeps", Needs::Strace, |rig| {
        sweep_faults::notices(rig, Sweeper::FollowsLink)
    }),
];

/// The benches over correct implementations, which must report no fault.
const CONTROLS: [(&str, Needs, Trial); 7] = [
    ("kills", Needs::Nothing, |rig| kill::notices(rig, Saver::Sound)),
    ("a nearly full disk", Needs::Mounts, |rig| full_disk::notices(rig, Saver::Sound)),
    ("faults of a save", Needs::Strace, |rig| faulty(rig, Saver::Sound, Durability::File)),
    ("power cuts", Needs::PowerCuts, |rig| power_cut::notices(rig, Saver::Sound)),
    ("a disk that fails at the sync", Needs::PowerCuts, |rig| {
        late_sync::notices(rig, Saver::Sound)
    }),
    ("a crowd", Needs::Nothing, |rig| crowd(rig, Saver::Sound, Some(Sweeper::Sound))),
    ("faults of a sweep", Needs::Strace, |rig| sweep_faults::notices(rig, Sweeper::Sound)),
];

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B42", "planted bugs", || {
        let (mut tried, mut unnoticed, mut alarms, mut lacks) = (0, Vec::new(), Vec::new(), None);
        for (bug, needs, trial) in BUGS {
            if let Some(reason) = needs.missing(rig) {
                lacks = Some(reason);
                continue;
            }
            tried += 1;
            if trial(rig).map_err(|error| format!("{bug}: {error}"))?.is_none() {
                unnoticed.push(bug);
            }
        }
        for (bench, needs, trial) in CONTROLS {
            if needs.missing(rig).is_none()
                && let Some(case) = trial(rig).map_err(|error| format!("{bench}: {error}"))?
            {
                alarms.push(format!("{bench}: {case}"));
            }
        }
        let figures = vec![
            (json!(BUGS.len()), "planted"),
            (json!(tried - unnoticed.len()), "noticed"),
            (json!(CONTROLS.len()), "benches over a saver without a bug"),
            (json!(alarms.len()), "false alarms"),
        ];
        let verdict = match (unnoticed.first(), alarms.first()) {
            (None, None) => lacks.map_or(Verdict::Passed, |reason| {
                Verdict::Skipped(format!("only {tried} of {} tried: {reason}", BUGS.len()))
            }),
            (Some(bug), _) => Verdict::Failed(format!("not noticed: {bug}")),
            (_, Some(alarm)) => Verdict::Failed(format!("a false alarm: {alarm}")),
        };
        Ok(Finding { verdict, figures })
    });
}
