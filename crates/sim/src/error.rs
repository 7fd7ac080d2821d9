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
    #[error("traffic.{flow}: no way from {from:?} to {to:?}: connect them by links in this direction")]
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
