//! What a wire loses after the packet was transmitted.

use serde::{Deserialize, Serialize};

/// Which packets a wire loses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LossSpec {
    /// Each with this probability, whatever became of the others.
    Independent(f64),
    /// By a model of losses.
    Model(LossModel),
}

impl From<f64> for LossSpec {
    fn from(probability: f64) -> Self {
        Self::Independent(probability)
    }
}

/// Losses that depend on each other, on time, on the size of packets, or on their number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// Two states with a probability each, between which each packet may change (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability that the packet after one in the good state finds the bad one.
        to_bad: f64,
        /// Probability that the packet after one in the bad state finds the good one.
        to_good: f64,
        /// Probability that a packet is lost in the good state.
        loss_good: f64,
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64,
    },
    /// Each bit is wrong with this probability, and one wrong bit loses the packet.
    BitErrors {
        /// Probability that a bit is wrong.
        rate: f64,
    },
    /// Exactly these, of the packets whose transmission begins from `from_s` on and before `until_s`.
    Pattern {
        /// Their numbers, rising, from 1.
        packets: Vec<u64>,
        /// Every N-th one beside them.
        every: Option<u64>,
        /// Where counting begins, in seconds.
        from_s: f64,
        /// Where it ends, in seconds; none: never.
        until_s: Option<f64>,
    },
    /// A probability that changes in steps.
    Schedule {
        /// When each begins to hold, in seconds, rising from 0.
        at_s: Vec<f64>,
        /// The probabilities.
        loss: Vec<f64>,
        /// After how long it begins anew, in seconds; none: the last one holds.
        period_s: Option<f64>,
    },
}
