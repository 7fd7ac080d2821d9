//! What is observed beyond the totals.

use serde::{Deserialize, Serialize};

/// What is observed beyond the totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveSpec {
    /// Sampling interval of the time series, in seconds; none: no series.
    pub interval_s: Option<f64>,
    /// Series have the states of congestion control and recovery, too.
    #[serde(default)]
    pub transport: bool,
    /// There is a table of how delays are distributed.
    #[serde(default)]
    pub delays: bool,
    /// Rows of the `flows` table.
    pub flows: ObserveFlows,
    /// Periods by which the transfers of users are summed up.
    pub periods: Vec<PeriodSpec>,
}

/// A part of the simulated time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodSpec {
    /// Unique name.
    pub name: String,
    /// Its begin, in seconds.
    pub start_s: f64,
    /// Its end, in seconds.
    pub stop_s: f64,
}

/// How finely flows are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObserveFlows {
    /// A row for each flow.
    #[default]
    Each,
    /// A row for each traffic group.
    Group,
    /// No rows.
    None,
}
