//! Open-loop transfers: `transfers` of a scenario, which become flows with a start and a number of bytes.
//!
//! Of each group the scenario says who may send to whom, when transfers arrive and how large they are. What is random is
//! drawn from streams of the group for arrivals, pairs and sizes, so that a change of one leaves the others as they were.
//! The flows stand behind all others, group by group, in the order of their arrivals.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tightlink_sim::random::Stream;
use tightlink_sim::scenario::{Duration, SizeClass};

use crate::wrong::Wrong;

/// More flows than this are not made, whatever is drawn.
const MOST_FLOWS: usize = 1_000_000;
/// No transfer is larger, in bytes: heavy tails have no end of their own.
const LARGEST: f64 = 1e12;

/// A group of transfers, as the scenario describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    label: String,
    /// Nodes that send.
    from: Vec<u32>,
    /// Nodes that receive.
    to: Vec<u32>,
    pairs: Pairs,
    arrivals: Arrivals,
    sizes: Sizes,
    /// Arrivals are from here.
    start_s: f64,
    /// To here.
    stop_s: f64,
    size_classes: Vec<SizeClass>,
    /// What all of its flows have in common.
    flow: Value,
}

/// Who sends to whom at an arrival.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Pairs {
    /// A sender to any other node that receives.
    Random {},
    /// Each sender has its own receiver, by chance; one pair, or all together.
    Permutation { together: bool },
    /// Sender i to receiver i; one pair, or all together.
    Matched { together: bool },
    /// So many senders, or all, to one receiver.
    Incast { senders: Option<u32> },
}

/// When transfers arrive.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Arrivals {
    /// A Poisson process, so many per second.
    PoissonPerS(f64),
    /// Evenly spaced, so many per second, the first at the start.
    FixedPerS(f64),
    /// At these times, in seconds.
    TimesS(Vec<f64>),
}

/// How large transfers are, in bytes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sizes {
    /// All alike.
    Bytes(u64),
    /// Exponential or Pareto, of bytes where durations have seconds.
    Drawn(Duration),
    /// Sizes and the share of transfers that are not larger; linear between them.
    Points(Vec<(f64, f64)>),
}

impl Arrivals {
    fn times(&self, group: &Group, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(seed, &group.label, 0, "arrivals");
        let before_stop = |times: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
            times.take_while(|&time_s| time_s < group.stop_s).take(MOST_FLOWS).collect()
        };
        match self {
            Self::PoissonPerS(per_s) => {
                let gap = Duration::Exponential { mean_s: 1.0 / per_s };
                let mut now_s = group.start_s;
                before_stop(&mut std::iter::repeat_with(|| {
                    now_s += stream.duration(gap);
                    now_s
                }))
            }
            Self::FixedPerS(per_s) => {
                before_stop(&mut (0..MOST_FLOWS).map(|count| group.start_s + count as f64 / per_s))
            }
            Self::TimesS(times_s) => times_s.clone(),
        }
    }
}

impl Sizes {
    fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Self::Bytes(bytes) => *bytes,
            Self::Drawn(distribution) => stream.duration(*distribution).min(LARGEST).ceil().max(1.0) as u64,
            Self::Points(points) => {
                let share = stream.uniform();
                let next = points.partition_point(|&(_, up_to)| up_to <= share).min(points.len() - 1);
                let (bytes, up_to) = points[next];
                let Some(&(least, below)) = next.checked_sub(1).and_then(|before| points.get(before)) else {
                    return bytes as u64;
                };
                let part = if up_to > below { (share - below) / (up_to - below) } else { 1.0 };
                (least + (bytes - least) * part).ceil().max(1.0) as u64
            }
        }
    }
}

/// Who sends to whom, drawn arrival by arrival.
struct Chooser<'a> {
    group: &'a Group,
    stream: Stream,
    /// The place of each receiver among them.
    places: HashMap<u32, u32>,
    /// Pairs that stay what they are.
    lasting: Vec<(u32, u32)>,
}

impl<'a> Chooser<'a> {
    fn new(group: &'a Group, seed: u64) -> Self {
        let mut stream = Stream::new(seed, &group.label, 0, "pairs");
        let lasting = match group.pairs {
            Pairs::Permutation { .. } => permutation(&group.from, &group.to, &mut stream),
            Pairs::Matched { .. } => {
                let count = group.from.len().max(group.to.len());
                let pick = |nodes: &[u32], index: usize| nodes[index % nodes.len()];
                (0..count).map(|index| (pick(&group.from, index), pick(&group.to, index))).collect()
            }
            Pairs::Random {} | Pairs::Incast { .. } => Vec::new(),
        };
        let places = group.to.iter().copied().zip(0..).collect();
        Self { group, stream, places, lasting }
    }

    /// The pairs of one arrival.
    fn next(&mut self) -> Vec<(u32, u32)> {
        match self.group.pairs {
            Pairs::Permutation { together: true } | Pairs::Matched { together: true } => self.lasting.clone(),
            Pairs::Permutation { .. } | Pairs::Matched { .. } => {
                vec![self.lasting[self.stream.below(self.lasting.len() as u32) as usize]]
            }
            Pairs::Random {} => {
                let only = if let [only] = self.group.to[..] { Some(only) } else { None };
                let origins: Vec<u32> = self.group.from.iter().copied().filter(|&from| Some(from) != only).collect();
                let from = origins[self.stream.below(origins.len() as u32) as usize];
                vec![(from, self.receiver(from))]
            }
            Pairs::Incast { senders } => {
                let to = self.group.to[self.stream.below(self.group.to.len() as u32) as usize];
                let mut origins: Vec<u32> = self.group.from.iter().copied().filter(|&from| from != to).collect();
                let count = senders.map_or(origins.len(), |count| origins.len().min(count as usize));
                if count < origins.len() {
                    shuffle(&mut origins, count, &mut self.stream);
                    origins.truncate(count);
                }
                origins.into_iter().map(|from| (from, to)).collect()
            }
        }
    }

    /// Any receiver but the sender itself.
    fn receiver(&mut self, from: u32) -> u32 {
        let to = &self.group.to;
        let own = self.places.get(&from).copied();
        let drawn = self.stream.below(to.len() as u32 - u32::from(own.is_some()));
        to[(drawn + u32::from(own.is_some_and(|own| drawn >= own))) as usize]
    }
}

/// Puts a random choice of `count` nodes in front (Fisher and Yates).
fn shuffle(nodes: &mut [u32], count: usize, stream: &mut Stream) {
    for place in 0..count.min(nodes.len()) {
        let other = place + stream.below((nodes.len() - place) as u32) as usize;
        nodes.swap(place, other);
    }
}

/// Another receiver for each sender, never itself: all such choices are equally likely.
fn permutation(from: &[u32], to: &[u32], stream: &mut Stream) -> Vec<(u32, u32)> {
    let mut targets = to.to_vec();
    loop {
        // Of many shuffles one in e = 2.7 leaves nobody to itself.
        shuffle(&mut targets, to.len(), stream);
        if from.iter().zip(&targets).all(|(from, to)| from != to) {
            return from.iter().copied().zip(targets).collect();
        }
    }
}

/// Replaces the groups of transfers of a scenario by their flows, and by what remains to be known of each: where its flows
/// are, and its classes of sizes. Whether there were any.
pub(crate) fn expand(scenario: &mut Value) -> Result<bool, Wrong> {
    let Some(groups) = scenario.get_mut("transfers").and_then(Value::as_array_mut).map(std::mem::take) else {
        return Ok(false);
    };
    let seed = scenario["seed"].as_u64().unwrap_or_default();
    let mut known = Vec::new();
    for group in groups {
        let group: Group = serde_json::from_value(group)
            .map_err(|error| Wrong::Scenario(format!("resolved scenario: transfers: {error}")))?;
        let flows = scenario["flows"].as_array_mut().ok_or_else(|| Wrong::Scenario("no list of flows".into()))?;
        let first = flows.len();
        flows.extend(flows_of(&group, seed));
        let count = flows.len() - first;
        if count == 0 {
            let advice = "take more arrivals, a higher load or more time";
            return Err(Wrong::Scenario(format!(
                "traffic.{}: no transfer starts before its stop: {advice}",
                group.label
            )));
        }
        if flows.len() > MOST_FLOWS {
            let label = &group.label;
            return Err(Wrong::Scenario(format!("traffic.{label}: at most {MOST_FLOWS} flows and transfers in all")));
        }
        known.push(json!({
            "label": group.label, "first": first, "count": count, "size_classes": group.size_classes,
        }));
    }
    scenario["transfers"] = known.into();
    Ok(true)
}

fn flows_of(group: &Group, seed: u64) -> Vec<Value> {
    let mut chooser = Chooser::new(group, seed);
    let mut sizes = Stream::new(seed, &group.label, 0, "sizes");
    let mut flows = Vec::new();
    for start_s in group.arrivals.times(group, seed) {
        for (from, to) in chooser.next() {
            let index = flows.len();
            if index > MOST_FLOWS {
                return flows;
            }
            let mut flow = group.flow.clone();
            flow["label"] = format!("{}[{index}]", group.label).into();
            flow["group"] = group.label.clone().into();
            flow["index"] = index.into();
            flow["from"] = from.into();
            flow["to"] = to.into();
            flow["start_s"] = start_s.into();
            flow["path"] = Value::Null;
            flow["reverse_path"] = Value::Null;
            flow["traffic"] = json!({ "kind": "bulk", "bytes": group.sizes.draw(&mut sizes) });
            flows.push(flow);
        }
    }
    flows
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn group(pairs: Value, arrivals: Value, sizes: Value) -> Value {
        json!({
            "label": "web", "from": [0, 1, 2, 3], "to": [0, 1, 2, 3], "pairs": pairs, "arrivals": arrivals,
            "sizes": sizes, "start_s": 0.0, "stop_s": 1000.0, "size_classes": [], "flow": { "stop_s": 1000.0 },
        })
    }

    fn flows(group: Value, seed: u64) -> Vec<Value> {
        let mut scenario = json!({ "seed": seed, "flows": [], "transfers": [group] });
        expand(&mut scenario).unwrap();
        scenario["flows"].as_array().unwrap().clone()
    }

    fn pair(flow: &Value) -> (u64, u64) {
        (flow["from"].as_u64().unwrap(), flow["to"].as_u64().unwrap())
    }

    #[test]
    fn poisson_arrivals_come_as_often_as_asked_for_and_not_evenly() {
        let made = flows(group(json!({"kind": "random"}), json!({"poisson_per_s": 20.0}), json!({"bytes": 1})), 1);
        // Four standard deviations of a Poisson number.
        assert!((made.len() as f64 - 20_000.0).abs() < 4.0 * 20_000f64.sqrt(), "{}", made.len());
        let starts: Vec<f64> = made.iter().map(|flow| flow["start_s"].as_f64().unwrap()).collect();
        assert!(starts.is_sorted() && starts.iter().all(|&start| (0.0..1000.0).contains(&start)));
        let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // An exponential distribution's standard deviation is its mean; four standard errors, with its kurtosis of 9.
        assert!((variance / mean.powi(2) - 1.0).abs() < 4.0 * (8.0 / gaps.len() as f64).sqrt());
    }

    #[test]
    fn fixed_arrivals_are_evenly_spaced_from_the_start_on() {
        let made = flows(group(json!({"kind": "random"}), json!({"fixed_per_s": 0.25}), json!({"bytes": 7})), 1);
        assert_eq!(made.len(), 250);
        assert_eq!(made[3]["start_s"], json!(12.0));
        assert!(made.iter().all(|flow| flow["traffic"] == json!({"kind": "bulk", "bytes": 7})));
    }

    #[test]
    fn random_pairs_are_all_equally_likely_and_never_a_node_with_itself() {
        let made = flows(group(json!({"kind": "random"}), json!({"fixed_per_s": 12.0}), json!({"bytes": 1})), 3);
        let mut counts: HashMap<(u64, u64), f64> = HashMap::new();
        for flow in &made {
            *counts.entry(pair(flow)).or_default() += 1.0;
        }
        assert_eq!(counts.len(), 12);
        // Four standard deviations of a binomial number of 12,000 with p = 1/12.
        assert!(counts.iter().all(|((from, to), count)| from != to && (count - 1000.0).abs() < 122.0), "{counts:?}");
    }

    #[test]
    fn sizes_of_points_are_linear_between_them() {
        let points = json!({"points": [[1000.0, 0.5], [1000.0, 0.6], [2000.0, 1.0]]});
        let made = flows(group(json!({"kind": "random"}), json!({"fixed_per_s": 20.0}), points), 5);
        let sizes: Vec<u64> = made.iter().map(|flow| flow["traffic"]["bytes"].as_u64().unwrap()).collect();
        let share = |most: u64| sizes.iter().filter(|&&size| size <= most).count() as f64 / sizes.len() as f64;
        // Four standard deviations of shares among 20,000.
        assert!((share(1000) - 0.6).abs() < 0.014 && (share(1500) - 0.8).abs() < 0.012 && share(2000) == 1.0);
    }

    #[test]
    fn what_arrives_does_not_depend_on_sizes_or_pairs() {
        let starts = |pairs, sizes| -> Vec<Value> {
            let made = flows(group(pairs, json!({"poisson_per_s": 1.0}), sizes), 9);
            made.iter().map(|flow| flow["start_s"].clone()).collect()
        };
        let drawn = json!({"drawn": {"distribution": "pareto", "mean_s": 1e4, "shape": 1.5}});
        assert_eq!(
            starts(json!({"kind": "random"}), json!({"bytes": 1})),
            starts(json!({"kind": "permutation", "together": false}), drawn)
        );
    }

    #[test]
    fn a_group_without_arrivals_is_an_error() {
        let none = group(json!({"kind": "random"}), json!({"poisson_per_s": 1e-9}), json!({"bytes": 1}));
        let error = expand(&mut json!({ "seed": 1, "flows": [], "transfers": [none] })).unwrap_err();
        assert!(error.to_string().starts_with("traffic.web: no transfer starts before its stop"), "{error}");
    }

    proptest! {
        #[test]
        fn a_permutation_is_one_to_one_without_fixed_points(count in 2u32..40, seed: u64) {
            let nodes: Vec<u32> = (0..count).collect();
            let pairs = permutation(&nodes, &nodes, &mut Stream::new(seed, "p", 0, "pairs"));
            prop_assert!(pairs.iter().all(|(from, to)| from != to));
            prop_assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), nodes.clone());
            prop_assert_eq!(pairs.iter().map(|pair| pair.1).collect::<BTreeSet<_>>(), nodes.into_iter().collect());
        }

        #[test]
        fn an_incast_has_different_senders_and_one_receiver(senders in 1u32..4, seed: u64) {
            let pairs = json!({"kind": "incast", "senders": senders});
            let made = flows(group(pairs, json!({"times_s": [1.0, 2.0]}), json!({"bytes": 1})), seed);
            prop_assert_eq!(made.len(), 2 * senders as usize);
            for burst in made.chunks(senders as usize) {
                let to = pair(&burst[0]).1;
                let from: BTreeSet<u64> = burst.iter().map(|flow| pair(flow).0).collect();
                prop_assert!(burst.iter().all(|flow| pair(flow).1 == to) && !from.contains(&to));
                prop_assert_eq!(from.len(), senders as usize);
            }
        }
    }
}
