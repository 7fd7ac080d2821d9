//! What a scenario may set of a congestion control.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// How the value of an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    Number,
    /// Packets.
    Packets,
    /// Seconds.
    Seconds,
    /// 0 (off) or 1 (on).
    Switch,
}

impl Unit {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Packets => "packets",
            Self::Seconds => "seconds",
            Self::Switch => "switch",
        }
    }
}

/// An option of a congestion control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlOption {
    /// Its name in a scenario.
    pub name: &'static str,
    /// How its value is written.
    pub unit: Unit,
    /// Its value where a scenario gives none.
    pub default: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// One line of help.
    pub help: &'static str,
}

impl ControlOption {
    /// A plain number from `range`.
    #[must_use]
    pub const fn number(name: &'static str, default: f64, range: [f64; 2], help: &'static str) -> Self {
        Self { name, unit: Unit::Number, default, least: range[0], most: range[1], help }
    }

    /// A number of packets, above zero.
    #[must_use]
    pub const fn packets(name: &'static str, default: f64, help: &'static str) -> Self {
        Self { name, unit: Unit::Packets, default, least: 0.1, most: 1e6, help }
    }

    /// A time from a microsecond to a thousand seconds.
    #[must_use]
    pub const fn seconds(name: &'static str, default: f64, help: &'static str) -> Self {
        Self { name, unit: Unit::Seconds, default, least: 1e-6, most: 1e3, help }
    }

    /// Something on or off.
    #[must_use]
    pub const fn switch(name: &'static str, default: bool, help: &'static str) -> Self {
        Self { name, unit: Unit::Switch, default: default as u8 as f64, least: 0.0, most: 1.0, help }
    }
}

/// A congestion control and what is set of its options: its name alone, or a table with `kind` and numbers in
/// the units of the options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
pub struct ControlSpec {
    /// Its name.
    pub kind: String,
    /// Of a control outside of the engine: a digest of its code, so that other code is another scenario.
    pub external: Option<String>,
    /// Options by name; those not given have their defaults.
    pub options: BTreeMap<String, f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Name(String),
    Table {
        kind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        external: Option<String>,
        #[serde(flatten)]
        options: BTreeMap<String, f64>,
    },
}

impl From<Form> for ControlSpec {
    fn from(form: Form) -> Self {
        match form {
            Form::Name(kind) => Self { kind, external: None, options: BTreeMap::new() },
            Form::Table { kind, external, options } => Self { kind, external, options },
        }
    }
}

impl From<ControlSpec> for Form {
    fn from(spec: ControlSpec) -> Self {
        if spec.options.is_empty() && spec.external.is_none() {
            Self::Name(spec.kind)
        } else {
            Self::Table { kind: spec.kind, external: spec.external, options: spec.options }
        }
    }
}

impl From<&str> for ControlSpec {
    fn from(kind: &str) -> Self {
        Self { kind: kind.to_owned(), external: None, options: BTreeMap::new() }
    }
}

/// The values of a control's options.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    known: &'static [ControlOption],
    given: &'a BTreeMap<String, f64>,
}

impl<'a> Options<'a> {
    /// The options that `given` sets of those `known`.
    ///
    /// # Errors
    /// A sentence that says which option is unknown or out of its range.
    pub fn new(known: &'static [ControlOption], given: &'a BTreeMap<String, f64>) -> Result<Self, String> {
        for (name, &value) in given {
            let Some(option) = known.iter().find(|option| option.name == name) else {
                return Err(format!("no option {name:?}; it has {}", listed(known)));
            };
            if !(option.least..=option.most).contains(&value) {
                return Err(format!("{name} = {value}: expected {} to {}", option.least, option.most));
            }
        }
        Ok(Self { known, given })
    }

    /// The values of all options, in the order in which the control lists them.
    ///
    /// # Panics
    /// If the control has not `N` options.
    #[must_use]
    pub fn values<const N: usize>(&self) -> [f64; N] {
        assert_eq!(self.known.len(), N, "a control reads all of its options");
        std::array::from_fn(|index| {
            let option = &self.known[index];
            self.given.get(option.name).copied().unwrap_or(option.default)
        })
    }
}

fn listed(known: &[ControlOption]) -> String {
    let mut text = String::new();
    for option in known {
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{separator}{}", option.name);
    }
    if text.is_empty() { "none".into() } else { text }
}
