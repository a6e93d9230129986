//! Arguments of the form `--name value`; a process of the rig is started by another one, so they are never misspelt.

use std::path::PathBuf;
use std::str::FromStr;

use spillway_core::storage::directories::Durability;

use super::Result;

/// The arguments of a process, after the word that says what it is.
#[derive(Debug)]
pub struct Args(Vec<(String, String)>);

impl Args {
    /// Reads them. An argument whose value begins with `--`, or has none, is a switch.
    pub fn read(words: impl Iterator<Item = String>) -> Self {
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

    /// Whether it was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(each, _)| each == name)
    }

    /// All its values.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    /// Its value.
    pub fn text(&self, name: &str) -> Result<&str> {
        let found = self.0.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str());
        found.ok_or_else(|| format!("--{name} is missing").into())
    }

    /// Its value as a number, or the number that stands for none.
    pub fn number<T: FromStr>(&self, name: &str, default: T) -> T {
        self.text(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// Its values as paths.
    pub fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.all(name).map(PathBuf::from).collect()
    }

    /// The value of `--durability`; a killed process if there is none.
    pub fn durability(&self) -> Durability {
        match self.text("durability") {
            Ok("file") => Durability::File,
            Ok("full") => Durability::Full,
            _ => Durability::Process,
        }
    }
}

/// The word for a durability that [`Args::durability`] reads.
pub fn word(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => "process",
        Durability::File => "file",
        Durability::Full => "full",
    }
}
