//! Faults below the whole package in a Node process: the call resolves, the text is bounded, and each folder that
//! failed is one `error` event with the errno of the cause.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::report::{Finding, Report};
use super::strace::{Call, Fault, inject_threads, missing};
use super::{Result, Rig, outputs};

/// System calls that only the package makes in such a program.
const CALLS: [&str; 4] = ["linkat", "fsync", "fchmod", "mkdirat"];
const ERRNOS: [&str; 5] = ["ENOSPC", "EIO", "EDQUOT", "EACCES", "EROFS"];
/// Maximum length of the text of a default service, notice included.
const MAX_LENGTH: u64 = 52 << 10;

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B8", "a fault under the package, through Node", || {
        let Some(package) = &rig.package else {
            return Ok(Finding::skipped("the add-on is not built"));
        };
        if let Some(reason) = missing() {
            return Ok(Finding::skipped(reason));
        }
        let (mut runs, mut case) = (0, None);
        for name in CALLS {
            for errno in &ERRNOS[..if rig.quick { 1 } else { ERRNOS.len() }] {
                let first = Call { name: name.to_owned(), nth: 1 };
                for (fault, failures) in
                    [(Fault::error(&first, errno), 1), (Fault::lasting(&first, errno), 2)]
                {
                    runs += 1;
                    if let Err(problem) = one(rig, package, &fault, errno, failures) {
                        case.get_or_insert_with(|| format!("{fault}: {problem}"));
                    }
                }
            }
        }
        Ok(Finding::new(vec![(json!(runs), "runs")], case))
    });
}

fn one(rig: &Rig, package: &Path, fault: &Fault, errno: &str, failures: usize) -> Result<()> {
    let dirs = [rig.folder("service")?.join("main"), rig.folder("service-other")?.join("other")];
    // A folder that exists already gets no marker files, so the fault affects the output.
    if !fault.names().contains("mkdir") {
        dirs.iter().try_for_each(std::fs::create_dir_all)?;
    }
    let mut command = Command::new("node");
    command.arg(package.join("torture/workers/service.mjs")).args(&dirs);
    let ended = inject_threads(&command, fault)?;
    let found: Value = serde_json::from_str(&ended.printed)
        .map_err(|_| format!("ended with {:?}: {}", ended.code, ended.complaint))?;
    let is_saved = failures < dirs.len();
    let types: Vec<&str> = found["events"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|each| each["type"].as_str())
        .collect();
    let expected = [&["error"].repeat(failures)[..], &["truncated"]].concat();
    let names = |event: &Value| {
        event["type"] != "error"
            || event["error"].as_str().is_some_and(|error| error.starts_with(errno))
    };
    if types != expected || !found["events"].as_array().into_iter().flatten().all(names) {
        return Err(format!("the events are {}", found["events"]).into());
    }
    if found["truncated"] != true || found["shown"].as_u64().is_none_or(|shown| shown > MAX_LENGTH)
    {
        return Err(format!("the text has {} units", found["shown"]).into());
    }
    if found["saved"] != if is_saved { json!(true) } else { Value::Null } {
        return Err(format!("saved: {}", found["saved"]).into());
    }
    let there: usize = dirs
        .iter()
        .filter(|dir| dir.exists())
        .map(|dir| outputs(dir).map_or(0, |files| files.len()))
        .sum();
    if there == usize::from(is_saved) { Ok(()) } else { Err(format!("{there} files").into()) }
}
