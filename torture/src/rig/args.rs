//! Arguments of the form `--name value`. Processes of the rig are started by the rig, so that arguments are never
//! misspelt.

use std::path::PathBuf;
use std::str::FromStr;

use spillway_core::storage::directories::Durability;

use super::Result;

/// The arguments of a process after its role.
#[derive(Debug)]
pub(crate) struct Args(Vec<(String, String)>);

impl Args {
    /// Parses arguments. One whose value is missing or begins with `--` is a switch.
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Self {
        let mut args: Vec<(String, String)> = Vec::new();
        for word in words {
            match word.strip_prefix("--") {
                Some(name) => args.push((name.to_owned(), String::new())),
                None => {
                    if let Some((_, value)) = args.last_mut() {
                        *value = word;
                    }
                }
            }
        }
        Args(args)
    }

    /// Returns true if an argument was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(each, _)| each == name)
    }

    /// Returns all values of an argument.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of an argument.
    pub(crate) fn text(&self, name: &str) -> Result<&str> {
        let found = self.0.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str());
        found.ok_or_else(|| format!("--{name} is missing").into())
    }

    /// Returns the value as a number, or the default.
    pub(crate) fn number<T: FromStr>(&self, name: &str, default: T) -> T {
        self.text(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// Returns the values as paths.
    pub(crate) fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.all(name).map(PathBuf::from).collect()
    }

    /// Returns the value of `--durability`; by default a killed process.
    pub(crate) fn durability(&self) -> Durability {
        match self.text("durability") {
            Ok("file") => Durability::File,
            Ok("full") => Durability::Full,
            _ => Durability::Process,
        }
    }
}

/// Returns the name of a durability that [`Args::durability`] reads.
pub(crate) fn word(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => "process",
        Durability::File => "file",
        Durability::Full => "full",
    }
}
