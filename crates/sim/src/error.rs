//! Why a run is not what was asked for.

use thiserror::Error;

/// The run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// A scenario that cannot be simulated, which only the engine can see. The messages stand alone: one sentence each.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ScenarioError {
    #[error("traffic.{flow}: no path from {from:?} to {to:?}: connect them by links in this direction")]
    Unreachable { flow: String, from: String, to: String },
    #[error("traffic.{flow}: the path takes link {link:?} at node {node:?}, where that link does not begin")]
    BrokenPath { flow: String, link: String, node: String },
    #[error("traffic.{flow}: the path ends at {end:?} instead of {to:?}")]
    PathEndsElsewhere { flow: String, end: String, to: String },
    #[error("traffic.{flow}.{key} = {value}: {expected}")]
    Flow { flow: String, key: &'static str, value: String, expected: String },
    #[error("link.{link}.{key} = {value}: {expected}")]
    Link { link: String, key: &'static str, value: String, expected: String },
    #[error("traffic: expected {expected}")]
    Traffic { expected: String },
}

impl ScenarioError {
    /// What a flow or a group says of a key is not what was expected.
    pub(crate) fn flow(flow: &str, key: &'static str, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Flow { flow: flow.to_owned(), key, value: value.into(), expected: expected.into() }
    }

    /// What a link says of a key is not what was expected.
    pub(crate) fn link(link: &str, key: &'static str, value: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Link { link: link.to_owned(), key, value: value.into(), expected: expected.into() }
    }

    /// What traffic is not as expected.
    pub(crate) fn traffic(expected: impl Into<String>) -> Self {
        Self::Traffic { expected: expected.into() }
    }

    /// A congestion control is not what was expected.
    pub(crate) fn congestion(flow: &str, kind: &str, expected: String) -> Self {
        Self::flow(flow, "tcp.congestion", format!("{kind:?}"), expected)
    }
}
