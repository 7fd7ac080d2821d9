//! The scenario of a laboratory and what the positions of its sliders change in it, as `tightlink lab` wrote them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use tightlink_sim::Scenario;

/// A scenario and the changes that sliders make in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Laboratory {
    /// Like a resolved scenario, but quantities that depend on others are left open (`tightlink_run::relative`), and
    /// `groups` have the flows of each group of traffic beside what these have in common.
    scenario: Value,
    /// In the order in which they are made.
    patches: Vec<Patch>,
}

/// What one slider changes, or several together that depend on each other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    /// The numbers of the sliders.
    of: Vec<usize>,
    /// By their positions, as in `3,7`.
    at: HashMap<String, Choice>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Choice {
    /// Changes to make.
    Changes(Vec<(String, Change)>),
    /// Why there is no such scenario.
    Error(String),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Change {
    /// The value at a place.
    Set(Value),
    /// How many entries of a list to keep.
    Keep(usize),
}

impl Laboratory {
    /// A laboratory from its text.
    ///
    /// # Errors
    /// It is none.
    pub fn new(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("laboratory: {error}"))
    }

    /// The scenario at the positions of all sliders.
    ///
    /// # Errors
    /// One sentence: why there is none.
    pub fn scenario(&self, positions: &[usize]) -> Result<Scenario, String> {
        let mut scenario = self.scenario.clone();
        for patch in &self.patches {
            let key: Vec<String> =
                patch.of.iter().map(|&slider| positions.get(slider).copied().unwrap_or_default().to_string()).collect();
            match patch.at.get(&key.join(",")) {
                Some(Choice::Changes(changes)) => make(&mut scenario, changes)?,
                Some(Choice::Error(sentence)) => return Err(sentence.clone()),
                None => return Err(format!("slider {:?} has no position {}", patch.of, key.join(","))),
            }
        }
        expand(&mut scenario);
        tightlink_run::fill(&mut scenario).map_err(|wrong| wrong.to_string())?;
        serde_json::from_value(scenario).map_err(|error| format!("resolved scenario: {error}"))
    }
}

fn make(scenario: &mut Value, changes: &[(String, Change)]) -> Result<(), String> {
    for (place, change) in changes {
        let target = scenario.pointer_mut(place).ok_or_else(|| format!("there is nothing at {place}"))?;
        match change {
            Change::Set(value) => *target = value.clone(),
            Change::Keep(count) => {
                if let Some(list) = target.as_array_mut() {
                    list.truncate(*count);
                }
            }
        }
    }
    Ok(())
}

/// Gives each flow what it has in common with the others of its group.
fn expand(scenario: &mut Value) {
    let Some(table) = scenario.as_object_mut() else { return };
    let groups = table.remove("groups").unwrap_or_default();
    let mut all = Vec::new();
    for group in groups.as_array().into_iter().flatten() {
        for flow in group["flows"].as_array().into_iter().flatten() {
            let mut flow = flow.clone();
            for key in ["traffic", "transport"] {
                flow[key] = group[key].clone();
            }
            all.push(flow);
        }
    }
    table.insert("flows".into(), Value::Array(all));
}
