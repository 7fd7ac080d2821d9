//! What is wrong with what a scenario leaves to be worked out.

use thiserror::Error;
use tightlink_sim::scenario::{FlowSpec, Scenario};

/// Why a relative quantity has no value.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Wrong {
    /// What a key says cannot be.
    #[error("{key} = {value:?}: expected {expected}")]
    Key {
        /// Full dotted path.
        key: String,
        /// As it was written.
        value: String,
        /// What would have been right.
        expected: String,
    },
    /// A whole sentence.
    #[error("{0}")]
    Scenario(String),
}

impl Wrong {
    pub(crate) fn no_way(scenario: &Scenario, flow: &FlowSpec, from: u32, to: u32) -> Self {
        let name = |node: u32| scenario.nodes[node as usize].name.clone();
        let error =
            tightlink_sim::ScenarioError::Unreachable { flow: flow.label.clone(), from: name(from), to: name(to) };
        Self::Scenario(error.to_string())
    }
}
